import pytest

from reviewgauge.views.report import svg

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'


def test_nothing_active_is_left() -> None:
    inside = (
        '<script>alert(1)</script><a xlink:href="javascript:alert(1)"><path d="M0,0h1"/></a><foreignObject/>'
        '<style>*{}</style><image href="http://x/y"/><path d="M1,1h9" onclick="alert(1)" style="x:y" fill="url(http://x)"/>'
    )
    out = svg.adapt(f"{HEAD}{inside}</svg>", "n", "t", "d")
    for word in ("script", "javascript", "foreignObject", "style", "image", "onclick", "http://x", "xlink"):
        assert word not in out
    assert 'd="M1,1h9"' in out


def test_colours_follow_the_page_and_ids_do_not_clash() -> None:
    clip = '<defs><clipPath id="c"><path d="M0,0h5"/></clipPath></defs>'
    inside = f'{clip}<g clip-path="url(#c)"><path d="M1,1h1" fill="{svg.INK}"/></g>'
    out = svg.adapt(f"{HEAD}{inside}</svg>", "plot7", "t", "d")
    assert 'fill="var(--ink)"' in out
    assert 'id="plot7-c"' in out
    assert "url(#plot7-c)" in out


def test_it_can_be_read_aloud() -> None:
    out = svg.adapt(f"{HEAD}</svg>", "n", "F1 <b>", "a & b")
    assert 'role="img"' in out
    assert '<title id="n-title">F1 &lt;b&gt;</title>' in out
    assert "a &amp; b" in out


def test_what_is_no_svg_is_refused() -> None:
    with pytest.raises(ValueError, match="not an SVG"):
        svg.adapt("<svg", "n", "t", "d")
