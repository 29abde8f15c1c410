"""The instructions for the moment of the answer: connect the call's sound to our address."""

from xml.sax.saxutils import quoteattr


def connect(stream_url: str) -> str:
    """Both directions over one stream; the call ends with it."""
    return f"<Response><Connect><Stream url={quoteattr(stream_url)}/></Connect></Response>"
