"""The client against a server that misbehaves in ways a healthy API server doesn't show on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from itbc.providers.kubernetes.client import ApiError, Client, NoSuchKindError, UnreachableError
from itbc.providers.kubernetes.refs import Ref

Answer = tuple[int, dict[str, str], bytes]
CORE = {
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        {"name": "namespaces", "kind": "Namespace", "namespaced": False},
        {"name": "namespaces/status", "kind": "Namespace", "namespaced": False},
    ]
}
SETTINGS = Ref("v1", "ConfigMap", "settings", "shop")


class Server:
    """Answers by a function of method and path, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Callable[[str], Answer] = lambda _: (404, {}, b"{}")

    def reply(self, request: str) -> Answer:
        self.asked.append(request)
        return answer(CORE) if request == "GET /api/v1" else self.answer(request)


def answer(body: Any, status: int = 200, **headers: str) -> Answer:
    return status, headers, json.dumps(body).encode()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    found = Server()

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, body = found.reply(f"{self.command} {self.path}")
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = respond  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    config = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{http.server_port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    try:
        yield found
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[Client]:  # noqa: ARG001 - it must stand first
    with Client.from_kubeconfig(tmp_path / "config", patience_seconds=1.0) as client:
        yield client


def test_tries_again_while_the_server_is_busy(server: Server, client: Client) -> None:
    answers = [answer({}, 503, **{"Retry-After": "0"}), answer({}, 429, **{"Retry-After": "0"}), answer({"data": {}})]
    server.answer = lambda _: answers.pop(0)
    assert client.get(SETTINGS) == {"data": {}}
    assert server.asked == ["GET /api/v1", *["GET /api/v1/namespaces/shop/configmaps/settings"] * 3]


def test_gives_up_when_it_stays_busy(server: Server, client: Client) -> None:
    server.answer = lambda _: answer({"message": "shutting down", "reason": "ServiceUnavailable"}, 503)
    with pytest.raises(ApiError, match="shutting down") as wrong:
        client.get(SETTINGS)
    assert (wrong.value.status, wrong.value.reason) == (503, "ServiceUnavailable")


def test_a_creation_whose_fate_is_unknown_is_not_sent_again(server: Server, client: Client) -> None:
    def cut(_: str) -> Answer:
        return 200, {"Content-Length": "100"}, b"{"

    server.answer = cut
    with pytest.raises(UnreachableError):
        client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}})
    assert [request.split("?")[0] for request in server.asked] == [
        "GET /api/v1",
        "POST /api/v1/namespaces/shop/configmaps",
    ]


def test_nobody_there_is_unreachable(tmp_path: Path, server: Server) -> None:  # noqa: ARG001 - it writes the kubeconfig
    config = json.loads((tmp_path / "config").read_text())
    config["clusters"][0]["cluster"]["server"] = "http://127.0.0.1:1"
    (tmp_path / "config").write_text(json.dumps(config))
    with (
        Client.from_kubeconfig(tmp_path / "config", patience_seconds=0.2) as client,
        pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1"),
    ):
        client.get(SETTINGS)


def test_lists_all_pages_and_names_the_kind_of_items(server: Server, client: Client) -> None:
    def page(request: str) -> Answer:
        first = "continue=" not in request
        more = {"continue": "next"} if first else {}
        return answer({"metadata": more, "items": [{"metadata": {"name": "a" if first else "b"}}]})

    server.answer = page
    found = client.list_objects("v1", "ConfigMap", "shop", labels="app=x", fields="metadata.name!=y")
    assert [(thing["kind"], thing["metadata"]["name"]) for thing in found] == [("ConfigMap", "a"), ("ConfigMap", "b")]
    assert "labelSelector=app%3Dx&fieldSelector=metadata.name%21%3Dy" in server.asked[1]


def test_an_unknown_kind_is_no_object(server: Server, client: Client) -> None:
    assert client.get(Ref("v1", "Gadget", "one")) is None
    assert client.get(Ref("example.org/v1", "Gadget", "one")) is None
    assert client.delete(Ref("v1", "Gadget", "one")) is False
    with pytest.raises(NoSuchKindError, match=r"no Gadget in v1"):
        client.list_objects("v1", "Gadget")
    assert "GET /apis/example.org/v1" in server.asked


def test_cluster_wide_objects_have_no_namespace_in_their_address(server: Server, client: Client) -> None:
    server.answer = lambda _: answer({})
    client.get(Ref("v1", "Namespace", "shop", "ignored"))
    assert server.asked[-1] == "GET /api/v1/namespaces/shop"
    client.get(Ref("v1", "ConfigMap", "a/b"))
    assert server.asked[-1] == "GET /api/v1/namespaces/default/configmaps/a%2Fb"


def test_an_answer_that_is_no_status_is_shown(server: Server, client: Client) -> None:
    server.answer = lambda _: (502, {}, b"<html>bad gateway")
    with pytest.raises(ApiError, match=r"HTTP 502: <html>bad gateway"):
        client.get(SETTINGS)


def test_a_watch_tells_events_and_ends_quietly_when_it_is_cut(server: Server, client: Client) -> None:
    lines = [{"type": "ADDED", "object": {"n": 1}}, {"type": "DELETED", "object": {"n": 1}}]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    server.answer = lambda _: (200, {"Content-Length": str(len(body) + 10)}, body)
    events = list(client.watch("v1", "ConfigMap", "shop", since="7", fields="metadata.name=settings", seconds=3))
    assert [event.type for event in events] == ["ADDED", "DELETED"]
    assert "resourceVersion=7" in server.asked[-1]
    assert "timeoutSeconds=3" in server.asked[-1]


def test_a_watch_from_too_long_ago_says_so(server: Server, client: Client) -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    server.answer = lambda _: answer({"type": "ERROR", "object": status})
    with pytest.raises(ApiError, match="too old") as wrong:
        list(client.watch("v1", "ConfigMap", since="7"))
    assert wrong.value.status == 410
    server.answer = lambda _: answer(status, 403)
    with pytest.raises(ApiError) as refused:
        list(client.watch("v1", "ConfigMap"))
    assert refused.value.status == 403


@pytest.mark.parametrize(
    "ref",
    [
        Ref("v1", "Namespace", "shop"),
        Ref("apps/v1", "Deployment", "checkout", "shop"),
        Ref("rbac.authorization.k8s.io/v1", "ClusterRole", "system:node"),
    ],
)
def test_an_identity_survives_its_text(ref: Ref) -> None:
    assert Ref.parse(ref.id) == ref


@pytest.mark.parametrize("text", ["", "v1/ConfigMap", "v1/ConfigMap/shop/", "/ConfigMap/shop/x"])
def test_a_text_that_is_no_identity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="isn't the id"):
        Ref.parse(text)
