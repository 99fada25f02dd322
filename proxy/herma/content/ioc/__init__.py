"""Indicators as files: read, judged, merged, imported from other formats, pinned and signed."""

from herma.content.ioc.collection import Collection, IndicatorSources, collect
from herma.content.ioc.directory import load_public_key

__all__ = ["Collection", "IndicatorSources", "collect", "load_public_key"]
