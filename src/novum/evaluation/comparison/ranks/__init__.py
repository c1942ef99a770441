"""Tests of many models over many data sets, by ranks."""
