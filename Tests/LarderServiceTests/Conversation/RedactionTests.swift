import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import Testing

@Suite("What a recording keeps of the values in content", .timeLimit(.minutes(2)))
struct RedactionTests {
  /// The recorded content, and how many values were replaced.
  private func recorded(
    _ content: [UInt8], type: String? = nil, sent: [String] = []
  ) -> (text: String, bytes: [UInt8], count: Int) {
    var secrets = SentSecrets()
    for secret in sent { secrets.insert(Array(secret.utf8)[...]) }
    var count = 0
    let exchange = RecordedExchange(
      url: "https://h/", status: 200, fields: type.map { ["Content-Type": $0] } ?? [:], body: content,
      credentialFields: CredentialFields(), sent: secrets, replacedCount: &count)
    return (String(decoding: exchange.body, as: UTF8.self), exchange.body, count)
  }

  /// How often the marks of replaced values are in a text, more often than in another one.
  private func marks(_ text: String, beyond former: String) -> Int {
    func count(_ text: String) -> Int { text.components(separatedBy: "***").count - 1 }
    return count(text) - count(former)
  }

  @Test(
    "JSON: numbers, arrays and objects, names with escapes, pairs, JSON in strings, cut JSON; ids and links stay",
    arguments: [
      (#"{"password":12345678,"tokens":["abc"]}"#, #"{"password":0,"tokens":["***"]}"#),
      (
        #"{"pass\u0077ord":"S1","user password":"S2"," password ":"S3","p\u0061ssword":5}"#,
        #"{"pass\u0077ord":"***","user password":"***"," password ":"***","p\u0061ssword":0}"#
      ),
      (
        #"{"password":{"a":"S","b":[1,{"c":-1.5e3}],"ok":true},"n":1}"#,
        #"{"password":{"a":"***","b":[0,{"c":0}],"ok":true},"n":1}"#
      ),
      (
        #"{"credentials":[{"ID":7,"@odata.etag":"W/\"1\"","__metadata":{"uri":"https://h/C(7)"},"Pin":4711}]}"#,
        #"{"credentials":[{"ID":7,"@odata.etag":"W/\"1\"","__metadata":{"uri":"https://h/C(7)"},"Pin":0}]}"#
      ),
      (#"{"name":"password","value":"S"}"#, #"{"name":"password","value":"***"}"#),
      (
        #"[{"Value":"S","Name":"api_key"},{"Key":"pwd","Value":7},{"key":"color","value":"red"},{"name":"tokens","value":["x"]},{"name":"clientSecret","values":["S","T"]}]"#,
        #"[{"Value":"***","Name":"api_key"},{"Key":"pwd","Value":0},{"key":"color","value":"red"},{"name":"tokens","value":["x"]},{"name":"clientSecret","values":["***","***"]}]"#
      ),
      (
        #"{"headers":{"Cookie":"a=b","X-Api-Key":"k","Authorization":"x","Accept":"y","X-Session-Id":"z"},"cookies":{"sid":"S"}}"#,
        #"{"headers":{"Cookie":"***","X-Api-Key":"***","Authorization":"***","Accept":"y","X-Session-Id":"***"},"cookies":{"sid":"***"}}"#
      ),
      (
        #"{"a":"{\"password\":12,\"tokens\":[\"S\"]}","b":"{\"x\":\"<password><a>S</a></password>\"}"}"#,
        #"{"a":"{\"password\":0,\"tokens\":[\"***\"]}","b":"{\"x\":\"<password><a>***</a></password>\"}"}"#
      ),
      (#"{"a":1,"password":"S"#, #"{"a":1,"password":"***"#),
      (#"{"a":1,"password":{"x":["S","T"#, #"{"a":1,"password":{"x":["***","***"#),
      (
        #"{"$Version":"4.01","S":{"Password":{"$Kind":"EnumType","Token":2},"Token":3}}"#,
        #"{"$Version":"4.01","S":{"Password":{"$Kind":"EnumType","Token":2},"Token":3}}"#
      ),
      (
        #"{"id":"1","ID":2,"ETag":"x","a":[1,2,3],"value":[{"Name":"Ada","Value":3}]}"#,
        #"{"id":"1","ID":2,"ETag":"x","a":[1,2,3],"value":[{"Name":"Ada","Value":3}]}"#
      ),
    ])
  func json(_ text: String, _ expected: String) { check(text, expected) }

  private func check(_ text: String, _ expected: String) {
    #expect(recorded(Array(text.utf8)).text == expected)
    // What is recorded has no secrets that a second run would replace.
    let again = recorded(Array(expected.utf8))
    #expect(again.text == expected && again.count == 0)
  }

  @Test(
    "XML: nested and cut elements, attributes, pairs, XML and JSON in texts; metadata documents stay",
    arguments: [
      (
        "<a><password><b>S</b><c>T<d/>U</c></password><e>x</e></a>",
        "<a><password><b>***</b><c>***<d/>***</c></password><e>x</e></a>"
      ),
      ("<a><password>S", "<a><password>***"),
      ("<a><password><b>S</b", "<a><password><b>***</b"),
      ("<Secret>\n  <Text>x</Text>\n</Secret>", "<Secret>\n  <Text>***</Text>\n</Secret>"),
      (
        "<a password='S' b=\"1\"><add key=\"password\" value=\"S\"/><p name='token'>S</p></a>",
        "<a password='***' b=\"1\"><add key=\"password\" value=\"***\"/><p name='token'>***</p></a>"
      ),
      (
        "<r><d:Name>password</d:Name><d:Value>S</d:Value></r>", "<r><d:Name>password</d:Name><d:Value>***</d:Value></r>"
      ),
      (
        "<r><Value>S</Value><Name>password</Name></r><r><Name>x</Name><Value>y</Value></r>",
        "<r><Value>***</Value><Name>password</Name></r><r><Name>x</Name><Value>y</Value></r>"
      ),
      (
        "<a>{&quot;password&quot;:&quot;S&quot;,&quot;x&quot;:&quot;&amp;&auml;&quot;}</a>",
        "<a>{\"password\":\"***\",\"x\":\"&amp;&auml;\"}</a>"
      ),
      ("<a>&lt;password&gt;S&lt;/password&gt;</a>", "<a>&lt;password&gt;***&lt;/password&gt;</a>"),
      ("<a><![CDATA[<password><b>S</b></password>]]></a>", "<a><![CDATA[<password><b>***</b></password>]]></a>"),
      (
        "<d:Pin><d:Password m:type='Edm.Int32'>1234</d:Password></d:Pin>",
        "<d:Pin><d:Password m:type='Edm.Int32'>0</d:Password></d:Pin>"
      ),
      (
        "<d:Tokens><d:element>S</d:element></d:Tokens><d:Tokens>5</d:Tokens>",
        "<d:Tokens><d:element>***</d:element></d:Tokens><d:Tokens>5</d:Tokens>"
      ),
      (
        "<edmx:Edmx><Property Name=\"Password\"><Annotation String=\"x\"/><Summary>S</Summary></Property></edmx:Edmx>",
        "<edmx:Edmx><Property Name=\"Password\"><Annotation String=\"x\"/><Summary>S</Summary></Property></edmx:Edmx>"
      ),
      (
        "<form><input type='password' value='S'><input name=csrf_token value=S><input type=text name=x value=y></form>",
        "<form><input type='password' value='***'><input name=csrf_token value=***><input type=text name=x value=y></form>"
      ),
    ])
  func xml(_ text: String, _ expected: String) { check(text, expected) }

  @Test(
    "Values that show what they are, wherever they are; tokens that continue a list stay, whatever they look like",
    arguments: [
      (
        #"{"@odata.nextLink":"https://h/a?$skiptoken=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc","@odata.deltaLink":"h/a?$deltatoken=12345"}"#,
        #"{"@odata.nextLink":"https://h/a?$skiptoken=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc","@odata.deltaLink":"h/a?$deltatoken=12345"}"#
      ),
      (
        #"{"nextToken":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}"#,
        #"{"nextToken":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}"#
      ),
      (#"{"a":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d"}"#, #"{"a":"***"}"#),
      (#"{"a":"x\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}"#, #"{"a":"x\n***"}"#),
      (
        #"{"h":"Authorization: Bearer abc123def456, x","b":"Basic dXNlcjpwYXNzd29yZA==","c":"Basic authentication, Bearer authentication, Bearer token"}"#,
        #"{"h":"Authorization: Bearer ***, x","b":"Basic ***","c":"Basic authentication, Bearer authentication, Bearer token"}"#
      ),
      (
        #"{"k":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n","c":"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"}"#,
        #"{"k":"***\n","c":"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"}"#
      ),
      ("-----BEGIN PRIVATE KEY-----\nMIIE", "***"),
      (
        #"{"a":"AKIAIOSFODNN7EXAMPLE","b":"ghp_0123456789abcdefghij0123456789abcdef","c":"sk_live_0123456789abcdef","d":"AIzaSyA0123456789abcdefghij0123456789x"}"#,
        #"{"a":"***","b":"***","c":"***","d":"***"}"#
      ),
    ])
  func forms(_ text: String, _ expected: String) {
    let recorded = recorded(Array(text.utf8))
    #expect(recorded.text == expected)
    #expect(recorded.count == marks(expected, beyond: text))
  }

  @Test("The number of replaced values is counted, those of the URL and of fields too")
  func count() {
    #expect(recorded(Array(#"{"password":12345678,"tokens":["abc","d"],"a":"b"}"#.utf8)).count == 3)
    var count = 0
    let exchange = RecordedExchange(
      url: "https://h/?sig=S&a=1", status: 200, fields: ["Set-Cookie": "a=b", "ETag": "1", "Content-Length": "2"],
      body: Array(#"{"a":"b"}"#.utf8), credentialFields: CredentialFields(), sent: SentSecrets(), replacedCount: &count)
    #expect(count == 2)
    #expect(exchange.fields == ["ETag": "1"] && exchange.url == "https://h/?sig=***&a=1")
  }

  @Test("Each part of a batch is redacted, with its header fields and its length", arguments: [true, false])
  func batch(hasType: Bool) {
    let lines = [
      "--b1", "Content-Type: application/http", "Content-Length: OUTER", "", "HTTP/1.1 200 OK",
      "Content-Type: application/json", "Set-Cookie: a=b", "Content-Length: INNER", "ETag: W/\"1\"", "",
      #"{"password":12345,"a":"b"}"#, "--b1", "Content-Type: multipart/mixed; boundary=c1", "", "--c1",
      "Content-Type: application/http", "", "HTTP/1.1 201 Created", "Content-Type: application/xml", "X-CSRF-Token: t",
      "Location: https://h/T(1)?token=S", "", "<password><b>S</b></password>", "--c1--", "", "--b1--", "",
    ]
    let text = lines.joined(separator: "\r\n")
    let former = text.replacing("INNER", with: "26").replacing("OUTER", with: "117")
    let new = text.replacing("Set-Cookie: a=b\r\n", with: "").replacing("X-CSRF-Token: t\r\n", with: "")
      .replacing("12345", with: "0").replacing("token=S", with: "token=***").replacing("<b>S", with: "<b>***")
      .replacing("INNER", with: "22")
    let start = new.firstRange(of: "HTTP/1.1 200")?.lowerBound ?? new.startIndex
    let end = new.firstRange(of: "\r\n--b1\r\nContent-Type: multipart")?.lowerBound ?? new.endIndex
    let expected = new.replacing("OUTER", with: String(new[start..<end].utf8.count))
    let recorded = recorded(Array(former.utf8), type: hasType ? "multipart/mixed; boundary=\"b1\"" : nil)
    #expect(recorded.text == expected)
    #expect(recorded.count == 5)
  }

  @Test("Text in UTF-16 is redacted, and stays in UTF-16", arguments: [true, false], [true, false])
  func utf16(isBigEndian: Bool, hasMark: Bool) {
    func encoded(_ text: String) -> [UInt8] {
      ((hasMark ? "\u{FEFF}" : "") + text).utf16.flatMap { unit -> [UInt8] in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
        return isBigEndian ? [high, low] : [low, high]
      }
    }
    for (text, expected) in [
      (#"{"password":"Sä","x":1}"#, #"{"password":"***","x":1}"#), ("<a><password>S", "<a><password>***"),
    ] {
      let recorded = recorded(encoded(text))
      #expect(recorded.bytes == encoded(expected) && recorded.count == 1)
    }
  }

  @Test("A byte order mark of UTF-8 does not hide JSON or XML")
  func mark() {
    #expect(recorded(Array("\u{FEFF}<a><password>S".utf8)).text == "\u{FEFF}<a><password>***")
    #expect(recorded(Array("\u{FEFF}{\"token\":[1]}".utf8)).text == "\u{FEFF}{\"token\":[0]}")
  }

  @Test("Bytes that are no text stay as they are")
  func binary() {
    let image: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10] + Array(0...255)
    #expect(recorded(image).bytes == image)
  }

  @Test("Credentials that were sent are replaced wherever they are repeated, with any escapes")
  func sent() {
    let secret = "Xy7!secret\"key"
    for (text, expected) in [
      (#"{"echo":"Xy7!secret\"key","u":"a=Xy7%21secret%22key&b"}"#, #"{"echo":"***","u":"a=***&b"}"#),
      ("<a>Xy7!secret&quot;key</a> secrets", "<a>***</a> secrets"), (#"key is Xy7!secret"key."#, "key is ***."),
    ] {
      let recorded = recorded(Array(text.utf8), sent: [secret])
      #expect(recorded.text == expected && recorded.count == marks(expected, beyond: text))
    }
    #expect(recorded(Array("a short1 b".utf8), sent: ["short1"]).text == "a short1 b")
  }

  @Test(
    "Credentials in Base64 are found at any position of longer text", arguments: ["", "u", "us", "user", "userx:"],
    ["", "z", "zz", "zzz"])
  func base64(before: String, after: String) {
    for isURLSafe in [false, true] {
      let text = Base64.text(Array((before + "hunter2?>hunter" + after).utf8), isURLSafe: isURLSafe)
      let recorded = recorded(Array("x \(text) y".utf8), sent: ["hunter2?>hunter"])
      #expect(recorded.count == 1 && recorded.text.contains("***"), "\(recorded.text)")
    }
  }

  @Test("Known are the credentials of a request: of its fields, its URL and its form")
  func requests() throws {
    var secrets = SentSecrets()
    let url = try #require(URL(string: "https://h/a?sig=signature1"))
    secrets.insert(
      HTTPRequest(
        url: url,
        fields: [
          "Authorization": "Basic \(Base64.text(Array("ada:password1".utf8), isURLSafe: false))",
          "X-Api-Key": "apikey12", "Cookie": "a=cookie12; b=c", "Accept": "application/json",
        ]), CredentialFields())
    secrets.insert(
      HTTPRequest(
        method: .post, url: url, fields: ["Content-Type": "application/x-www-form-urlencoded"],
        body: .text("grant_type=refresh_token&refresh_token=refresh%201&client_id=clientid1&client_secret=client-1")),
      CredentialFields())
    let text = "signature1 password1 apikey12 cookie12 refresh 1 client-1; application/json clientid1 refresh_token"
    var count = 0
    let exchange = RecordedExchange(
      url: "https://h/", status: 200, body: Array(text.utf8), credentialFields: CredentialFields(), sent: secrets,
      replacedCount: &count)
    #expect(
      String(decoding: exchange.body, as: UTF8.self)
        == "*** *** *** *** *** ***; application/json clientid1 refresh_token")
    #expect(count == 6)
  }
}
