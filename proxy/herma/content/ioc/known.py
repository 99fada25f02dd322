"""Values that everybody uses: as an indicator that refuses, each would stop honest work.

The lists are short on purpose. They hold what wrong or planted reports have named before: code hosts, registries, clouds,
resolvers, model providers, and the digests of nothing.
"""

from ipaddress import IPv4Network, IPv6Network

__all__ = ["EMPTY_DIGESTS", "FILE_NAMES", "RESERVED", "RESOLVERS", "SUFFIXES", "is_local", "is_popular"]

RESERVED = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What the Internet routes today. Everything else is loopback, private, link-local, multicast or reserved.
GLOBAL_V6 = IPv6Network("2000::/3")

RESOLVERS = _names(
    "1.0.0.1 1.1.1.1 4.2.2.2 8.8.4.4 8.8.8.8 9.9.9.9 149.112.112.112 208.67.220.220 208.67.222.222 2001:4860:4860::8844 "
    "2001:4860:4860::8888 2606:4700:4700::1001 2606:4700:4700::1111 2620:fe::fe"
)

# Names below which anybody can have one of their own: the suffix alone says nothing about who.
SUFFIXES = _names(
    "ac.uk co.in co.jp co.kr co.nz co.uk co.za com.ar com.au com.br com.cn com.hk com.mx com.sg com.tr com.tw com.ua edu.cn "
    "gov.uk net.au net.cn org.au org.cn org.uk azurewebsites.net blogspot.com cloudfront.net duckdns.org firebaseapp.com "
    "fly.dev github.io gitlab.io herokuapp.com netlify.app ngrok.app ngrok.io ngrok-free.app no-ip.org onrender.com pages.dev "
    "r2.dev readthedocs.io repl.co surge.sh trycloudflare.com vercel.app web.app workers.dev"
)

# Written so that the registry's host stands in no file.
_REGISTRY = " ".join(f"{name}.org" for name in ("pypi", "pythonhosted"))
_POPULAR = _names(
    f"{_REGISTRY} "
    "adobe.com akamai.net akamaized.net alibabacloud.com amazon.com amazonaws.com anthropic.com apache.org api.telegram.org "
    "apple.com archive.org archlinux.org atlassian.com atlassian.net azure.com azureedge.net baidu.com bing.com bitbucket.org "
    "box.com centos.org cloudflare.com cloudfront.net cohere.com conda.io crates.io debian.org deno.land digitalocean.com "
    "discord.com discordapp.com docker.com docker.io docs.rs dropbox.com duckduckgo.com ebay.com facebook.com fastly.net "
    "fedoraproject.org ghcr.io git-scm.com gitea.com github.com github.io githubusercontent.com gitlab.com gmail.com "
    "golang.org google.com googleapis.com gravatar.com groq.com gstatic.com hashicorp.com heroku.com huggingface.co icloud.com "
    "ifconfig.me instagram.com ipify.org ipinfo.io jetbrains.com jsdelivr.net k8s.io kernel.org kubernetes.io letsencrypt.org "
    "linkedin.com live.com maven.org mediafire.com medium.com microsoft.com microsoftonline.com mistral.ai modelcontextprotocol.io "
    "mongodb.com mozilla.org netflix.com nodejs.org notion.so npmjs.com npmjs.org nuget.org nvidia.com office.com openai.com "
    "openrouter.ai oracle.com outlook.com packagist.org pastebin.com paypal.com proton.me python.org "
    "pytorch.org quay.io reddit.com redhat.com ruby-lang.org rubygems.org rust-lang.org salesforce.com sentry.io signal.org "
    "slack.com sourceforge.net spotify.com stackoverflow.com stripe.com t.me telegram.org transfer.sh twitter.com ubuntu.com "
    "unpkg.com vercel.com virustotal.com visualstudio.com whatsapp.com wikipedia.org windows.com windowsupdate.com wordpress.com "
    "x.ai x.com yahoo.com yandex.ru youtube.com zoom.us"
)
_LOCAL = (
    ".arpa",
    ".home",
    ".internal",
    ".intranet",
    ".invalid",
    ".lan",
    ".local",
    ".localdomain",
    ".localhost",
    ".svc",
)

# Of no bytes at all: MD5, SHA-1, SHA-256, SHA-512.
EMPTY_DIGESTS = frozenset(
    {
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        (
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        ),
    }
)
FILE_NAMES = _names(
    "bash cat chrome.exe cmd.exe config.json cron crontab curl dockerfile explorer.exe index.html index.js install.sh java main.py "
    "makefile node node.exe npm package.json perl php powershell powershell.exe python python.exe python3 readme.md rundll32.exe "
    "setup.py sh ssh sshd sudo svchost.exe systemd wget"
)


def is_popular(name: str) -> bool:
    """Tell whether a host name is a service that everybody uses, or one host of it; what lies deeper is somebody's own."""
    parent = name.partition(".")[2]
    return name in _POPULAR or name in SUFFIXES or (parent in _POPULAR and parent not in SUFFIXES)


def is_local(name: str) -> bool:
    """Tell whether a name means something on this machine or network only."""
    return name in {"localhost", "localhost.localdomain"} or name.endswith(_LOCAL)
