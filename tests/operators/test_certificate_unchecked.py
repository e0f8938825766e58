from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.certificate_unchecked import CertificateUnchecked

CASES = [
    ("python", "import requests\nr = requests.get(url)", "import requests\nr = requests.get(url, verify=False)"),
    (
        "python",
        """
        import httpx

        client = httpx.Client(
            timeout=3,
            verify=CA,
        )
        """,
        """
        import httpx

        client = httpx.Client(
            timeout=3,
            verify=False,
        )
        """,
    ),
    (
        "python",
        """
        import httpx

        client = httpx.Client(
            timeout=3,
        )
        """,
        """
        import httpx

        client = httpx.Client(
            timeout=3,
            verify=False,
        )
        """,
    ),
    (
        "python",
        """
        import ssl

        def connect():
            context = ssl.create_default_context()
            return context
        """,
        """
        import ssl

        def connect():
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return context
        """,
    ),
    ("python", "import ssl\nc = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)", None),  # a server asks for none
    ("python", "r = requests.get(url)", None),  # some other `requests`
    ("python", "import requests\nr = requests.get(url, verify=False)", None),
    ("python", "import requests\nr = requests.get(url, **options)", None),
    (
        "javascript",
        "const https = require('https');\nhttps.request({ host, port: 443 }, done);",
        "const https = require('https');\nhttps.request({ host, port: 443, rejectUnauthorized: false }, done);",
    ),
    (
        "typescript",
        """
        import tls from 'tls';

        const socket = tls.connect({
          host,
          port: 443
        });
        """,
        """
        import tls from 'tls';

        const socket = tls.connect({
          host,
          port: 443,
          rejectUnauthorized: false
        });
        """,
    ),
    ("javascript", "const http = require('http');\nhttps.request({ host });", None),
    ("go", "var c = &tls.Config{ServerName: host}", "var c = &tls.Config{ServerName: host, InsecureSkipVerify: true}"),
    ("go", "var c = &tls.Config{}", "var c = &tls.Config{InsecureSkipVerify: true}"),
    ("go", "var c = &other.Config{}", None),
    (
        "rust",
        "fn f() {\n    let c = Client::builder().timeout(t).build();\n}",
        "fn f() {\n    let c = Client::builder().danger_accept_invalid_certs(true).timeout(t).build();\n}",
    ),
    (
        "rust",
        """
        fn f() -> Client {
            reqwest::Client::builder()
                .timeout(t)
                .build()
        }
        """,
        """
        fn f() -> Client {
            reqwest::Client::builder()
                .danger_accept_invalid_certs(true)
                .timeout(t)
                .build()
        }
        """,
    ),
]


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_accepts_any_certificate(language: str, before: str, after: str | None) -> None:
    found = planted(CertificateUnchecked(), code_of(language, before))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all("check of TLS certificates off" in one.body for one in found)


def test_saying_the_default_does_no_harm() -> None:
    [plant] = planted(CertificateUnchecked(), code_of(CASES[0][0], CASES[0][1]))
    assert plant.safe == "import requests\nr = requests.get(url, verify=True)"
