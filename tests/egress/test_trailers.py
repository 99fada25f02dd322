"""Trailers of HTTP/1; through the running gate in `test_layers`."""

from h11._receivebuffer import ReceiveBuffer
from mitmproxy.proxy.layers.http import _http1

from herma.egress.trailers import leave_out


def test_a_chunked_body_ends_without_its_trailers() -> None:
    """Bodies of a length are read as before."""
    given = _http1.make_body_reader
    try:
        leave_out()
        leave_out()
        buffer = ReceiveBuffer()
        buffer += b"1\r\na\r\n0\r\nX-Note: b\r\n\r\n"
        reader = _http1.make_body_reader(None)
        assert bytes(reader(buffer).data) == b"a"  # type: ignore[union-attr]  # the first thing read is data
        assert list(reader(buffer).headers) == []  # type: ignore[union-attr]  # and the second its end
        assert type(_http1.make_body_reader(1)) is type(given(1))
    finally:
        setattr(_http1, "make_body_reader", given)  # noqa: B010 - as the module does
