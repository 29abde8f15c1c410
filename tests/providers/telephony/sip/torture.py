"""The torture messages of RFC 4475: which of them are SIP, and which are not."""

_WSINV = """INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
TO :
 sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>
  ;
  tag = 98asjd8
MaX-fOrWaRdS: 0068
Call-ID: wsinv.ndaksdj@192.0.2.1
Content-Length   : 3
cseq: 0009
  INVITE
Via  : SIP  /   2.0
 /UDP
    192.0.2.2;branch=390skdjuw
s :
NewFangledHeader:   newfangled value
 continued newfangled value
UnknownHeaderWithUnusualValue: ;;,,;;,;
Content-Type: application/sdp
Route:
 <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
v:  SIP  / 2.0  / TCP     spindle.example.com   ;
  branch  =   z9hG4bK9ikj8  ,
 SIP  /    2.0   / UDP  192.168.255.111   ; branch=
 z9hG4bK30239
m:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =
      newvalue ;
  secondparam ; q = 0.33

v=0"""

_INTMETH = """!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/\
crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0
Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bK-.!%66*_+`'~
To: "BEL:\\\x07 NUL:\\\x00 DEL:\\\x7f" <sip:1_unusual.URI~\
(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;\
fromParam''~+*_!.-%="работающий";tag=_token~1'+`*%!-.
Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\\/"][?}{
CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~
Max-Forwards: 255
extensionHeader-!.%*+_`'~:大停電

"""

_ESC01 = """INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0
To: sip:%75se%72@example.com
From: <sip:I%20have%20spaces@example.net>;tag=938
Max-Forwards: 87
i: esc01.239409asdfakjkn23onasd0-3234
CSeq: 234234 INVITE
Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bKkdjuw
C: application/sdp
Contact:
  <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>
Content-Length: 0

"""

_ESCNULL = """REGISTER sip:example.com SIP/2.0
To: sip:null-%00-null@example.com
From: sip:null-%00-null@example.com;tag=839923423
Max-Forwards: 70
Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd
CSeq: 14398234 REGISTER
Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
Contact: <sip:%00@host5.example.com>
Contact: <sip:%00%00@host5.example.com>
L:0

"""

_ESC02 = """RE%47IST%45R sip:registrar.example.com SIP/2.0
To: "%Z%45" <sip:resource@example.com>
From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
CSeq: 29344 RE%47IST%45R
Max-Forwards: 70
Contact: <sip:alias1@host1.example.com>
C%6Fntact: <sip:alias2@host2.example.com>
Contact: <sip:alias3@host3.example.com>
l: 0

"""

_LWSDISP = """OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: caller<sip:caller@example.com>;tag=323
Max-Forwards: 70
Call-ID: lwsdisp.1234abcd@funky.example.com
CSeq: 60 OPTIONS
Via: SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
l: 0

"""

_DBLREQ = """REGISTER sip:example.com SIP/2.0
To: sip:j.user@example.com
From: sip:j.user@example.com;tag=43251j3j324
Max-Forwards: 8
I: dblreq.0ha0isndaksdj99sdfafnl3lk233412
Contact: sip:j.user@host.example.com
CSeq: 8 REGISTER
Via: SIP/2.0/UDP 192.0.2.125;branch=z9hG4bKkdjuw23492
Content-Length: 0

INVITE sip:joe@example.com SIP/2.0
t: sip:joe@example.com
"""

_SEMIURI = """OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0
To: sip:j_user@example.com
From: sip:caller@example.org;tag=33242
Max-Forwards: 3
Call-ID: semiuri.0ha0isndaksdj
CSeq: 8 OPTIONS
Accept: application/sdp, application/pkcs7-mime,
        multipart/mixed, multipart/signed,
        message/sip, message/sipfrag
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw
l: 0

"""

_UNREASON = """SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое
Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
Call-ID: unreason.1234ksdfak3j2erwedfsASdf
CSeq: 35 INVITE
From: sip:user@example.com;tag=11141343
To: sip:user@example.edu;tag=2229
Content-Length: 0
Contact: <sip:user@host198.example.com>

"""

_NOREASON = """SIP/2.0 100\x20
Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
Call-ID: noreason.asndj203insdf99223ndf
CSeq: 35 INVITE
From: <sip:user@example.com>;tag=39ansfi3
To: <sip:user@example.edu>;tag=902jndnke3
Content-Length: 0
Contact: <sip:user@host105.example.com>

"""

_UNKSCM = """OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=384
Max-Forwards: 3
Call-ID: unkscm.nasdfasser0q239nwsdfasdkl34
CSeq: 3923423 OPTIONS
Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
Content-Length: 0

"""

_PLAIN = """INVITE sip:user@example.com SIP/2.0
To: sip:j.user@example.com
From: sip:caller@example.net;tag=134161461246
Max-Forwards: 7
Call-ID: plain.0ha0isndaksdjasdf3234nas
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw
Contact: <sip:caller@host5.example.net>
Content-Length: 0

"""


def _changed(old: str, new: str, text: str = _PLAIN) -> str:
    assert old in text
    return text.replace(old, new)


def _bytes(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


VALID = {
    name: _bytes(text)
    for name, text in {
        "wsinv": _WSINV,
        "intmeth": _INTMETH,
        "esc01": _ESC01,
        "escnull": _ESCNULL,
        "esc02": _ESC02,
        "lwsdisp": _LWSDISP,
        "longreq": _changed("sip:caller@example", f"sip:{'a' * 4000}@example"),
        "dblreq": _DBLREQ,
        "semiuri": _SEMIURI,
        "transports": _changed("SIP/2.0/UDP", "SIP/2.0/UNKNOWN"),
        "unreason": _UNREASON,
        "noreason": _NOREASON,
        "unkscm": _UNKSCM,
        "novelsc": _changed("sip:user@example.com SIP", "soap.beep://192.0.2.103:3002 SIP"),
        "unksm2": _changed("sip:j.user@example.com", "isbn:2983792873"),
        "baddate": _changed("Max-F", "Date: Fri, 01 Jan 2010 16:00:00 EST\nMax-F"),
        "zeromf": _changed("Max-Forwards: 7", "Max-Forwards: 0"),
        "bext01": _changed("Max-F", "Require: nothingSupportsThis\nMax-F"),
    }.items()
}

INVALID = {
    name: _bytes(text)
    for name, text in {
        "badinv01": _changed("192.0.2.15;branch", "192.0.2.15;;,;,,branch"),
        "clerr": _changed("Content-Length: 0", "Content-Length: 9999"),
        "ncl": _changed("Content-Length: 0", "Content-Length: -999"),
        "scalar02": _changed("CSeq: 8 ", "CSeq: 36893488147419103232 "),
        "scalarlg": _changed("CSeq: 35 ", "CSeq: 9292394834772304023312 ", _NOREASON),
        "quotbal": _changed("To: sip:j.user@example.com", 'To: "Mr. J. User <sip:j@example.com>'),
        "ltgtruri": _changed("INVITE sip:user@example.com", "INVITE <sip:user@example.com>"),
        "lwsruri": _changed("sip:user@example.com SIP", "sip:user@example.com; lr SIP"),
        "lwsstart": _changed("INVITE sip:user@", "INVITE  sip:user@"),
        "trws": _changed("com SIP/2.0\nTo", "com SIP/2.0  \nTo"),
        "badaspec": _changed("To: sip:j.user@example.com", 'To: "Watson" < t.watson@example.org >'),
        "baddn": _changed("From: sip:caller@example.net", "From: Bell, A <sip:a@bell-tel.com>"),
        "badvers": _changed(".com SIP/2.0\n", ".com SIP/7.0\n"),
        "mismatch01": _changed("CSeq: 8 INVITE", "CSeq: 8 OPTIONS"),
        "mismatch02": _changed("INVITE sip", "NEWMETHOD sip"),
        "bigcode": _changed("SIP/2.0 100", "SIP/2.0 4294967301", _NOREASON),
        "insuf": _changed("Call-ID: plain.0ha0isndaksdjasdf3234nas\n", ""),
        "multi01": _changed("CSeq: 8 INVITE", "CSeq: 8 INVITE\nCSeq: 59 INVITE"),
        "mcl01": _changed("Content-Length: 0", "Content-Length: 0\nl: 0"),
    }.items()
}
