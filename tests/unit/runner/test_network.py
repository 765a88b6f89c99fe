from __future__ import annotations

import pytest

from itbc.runner.sandbox.network import (
    Address,
    Network,
    Passage,
    Unresolved,
    WrongAddress,
    address_of,
    look_up,
    make_network,
    parse,
)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("api.example.com:443", "api.example.com", 443),
        ("API.Example.com:1", "api.example.com", 1),
        ("localhost:11434", "localhost", 11434),
        ("192.0.2.7:65535", "192.0.2.7", 65535),
        ("[2001:DB8::0001]:443", "2001:db8::1", 443),
    ],
)
def test_an_address_is_read_and_written(text: str, host: str, port: int) -> None:
    found = parse(text)
    assert found == Address(host, port)
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "isn't HOST:PORT"),
        ("api.example.com", "isn't HOST:PORT"),
        ("https://api.example.com:443", "isn't HOST:PORT"),
        ("api.example.com:443/v1", "isn't HOST:PORT"),
        ("api.example.com:", "has no port"),
        ("api.example.com:https", "has no port"),
        ("api.example.com:0", "has no port"),
        ("api.example.com:65536", "has no port"),
        ("api.example.com:99999999999999999999", "has no port"),
        ("api.example.com:٤٤٣", "has no port"),
        (":443", "neither a host's name nor an IP address"),
        ("-x.example.com:443", "neither a host's name nor an IP address"),
        ("a..b:443", "neither a host's name nor an IP address"),
        ("a b:443", "neither a host's name nor an IP address"),
        ("a\n127.0.0.1 b:443", "neither a host's name nor an IP address"),
        ("*.example.com:443", "neither a host's name nor an IP address"),
        ("300.1.1.1:443", "neither a host's name nor an IP address"),
        ("127.1:443", "neither a host's name nor an IP address"),
        ("[api.example.com]:443", "neither a host's name nor an IP address"),
        ("2001:db8::1:443", "goes in brackets"),
        ("[192.0.2.7]:443", "goes in brackets"),
        ("0.0.0.0:443", "isn't the address of one host"),
        ("[::]:443", "isn't the address of one host"),
        ("224.0.0.1:443", "isn't the address of one host"),
        ("[fe80::1%eth0]:443", "isn't the address of one host"),
    ],
)
def test_what_is_no_address_is_told(text: str, why: str) -> None:
    with pytest.raises(WrongAddress, match=why):
        parse(text)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://10.200.0.2:6443", "10.200.0.2:6443"),
        ("https://API.example.com", "api.example.com:443"),
        ("http://prometheus/graph", "prometheus:80"),
        ("http://[2001:db8::1]:9090/", "[2001:db8::1]:9090"),
    ],
)
def test_where_a_urls_server_is(url: str, said: str) -> None:
    assert str(address_of(url)) == said


@pytest.mark.parametrize("url", ["", "/only/a/path", "ftp://example.com", "http://:80", "http://x:port"])
def test_a_url_without_a_server_is_refused(url: str) -> None:
    with pytest.raises(WrongAddress):
        address_of(url)


def test_a_name_stands_for_what_was_found_and_has_one_address_inside() -> None:
    known = {"api": ["2001:db8::1", "192.0.2.1", "192.0.2.2"], "other": ["192.0.2.1"], "six": ["2001:db8::6"]}
    network = make_network(
        [
            Address("api", 443),
            Address("other", 443),
            Address("other", 80),
            Address("six", 443),
            Address("192.0.2.9", 6443),
            Address("192.0.2.9", 6443),
        ],
        known.__getitem__,
    )
    assert network == Network(
        (
            Passage("192.0.2.1", 443, ("2001:db8::1", "192.0.2.1", "192.0.2.2")),
            Passage("192.0.2.1", 80, ("192.0.2.1",)),
            Passage("2001:db8::6", 443, ("2001:db8::6",)),
            Passage("192.0.2.9", 6443, ("192.0.2.9",)),
        ),
        {"api": "192.0.2.1", "other": "192.0.2.1", "six": "2001:db8::6"},
    )


def test_names_are_looked_up_on_this_machine() -> None:
    assert set(look_up("localhost")) <= {"127.0.0.1", "::1"}
    with pytest.raises(Unresolved, match=r"the name nowhere\.invalid has no address"):
        look_up("nowhere.invalid")
