"""What a fitted tree tells its reader: rules, text, pictures, reasons, the trace of its growth."""
