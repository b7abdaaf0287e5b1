import LarderHTTP
import LarderService
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

@Suite("Recorded exchanges", .timeLimit(.minutes(1)))
struct RecordedExchangeTests {
  @Test("A file has the exchanges as they were, text as text and bytes as Base64")
  func file() throws {
    let recording = RecordedExchanges([
      RecordedExchange(
        url: "https://h/s/Orders", status: 200, fields: ["Content-Type": "application/json", "ETag": "\"1\""],
        body: Array(#"{"value":["ä\n"]}"#.utf8)),
      RecordedExchange(method: .head, url: "https://h/s/photo", status: 404, body: [0xFF, 0x00]),
    ])
    let text = String(decoding: recording.encoded, as: UTF8.self)
    #expect(text.contains(#""request": "GET https://h/s/Orders""#) && text.contains("\"base64\": \"/wA=\""))
    #expect(try RecordedExchanges(encoded: recording.encoded) == recording)
  }

  @Test("Secrets of fields, URLs and content are not recorded")
  func secrets() {
    let exchange = RecordedExchange(
      url: "https://user:pass@h/s/a?access_token=T1&$top=1&sig=T2", status: 200,
      fields: [
        "Set-Cookie": "s=T3", "X-CSRF-Token": "T4", "Authorization": "T5", "X-Api-Key": "T6", "X-Mine": "T7",
        "Location": "https://h/x?code=T8", "Content-Length": "9", "Content-Type": "text/plain",
      ],
      body: Array(#"{"next":"https://h/s/a?$skip=1&token=T9","href":"?a=1&amp;sig=TA","plain":"a&b=c key=1"}"#.utf8),
      credentialFields: {
        var fields = CredentialFields()
        fields.insert("X-Mine")
        return fields
      }())
    let all = String(decoding: RecordedExchanges([exchange]).encoded, as: UTF8.self)
    for secret in ["pass"] + (1...9).map({ "T\($0)" }) + ["TA"] { #expect(!all.contains(secret), "\(secret)") }
    #expect(exchange.url == "https://h/s/a?access_token=***&$top=1&sig=***")
    #expect(exchange.fields == ["Location": "https://h/x?code=***", "Content-Type": "text/plain"])
    #expect(
      String(decoding: exchange.body, as: UTF8.self)
        == #"{"next":"https://h/s/a?$skip=1&token=***","href":"?a=1&amp;sig=***","plain":"a&b=c key=1"}"#)
  }

  @Test(
    "Secrets are replaced in URLs and in JSON, with the rest of the content as it was",
    arguments: [
      ("http://h/a?token=S\nhttp://h/b\r\nlast", "http://h/a?token=***\nhttp://h/b\r\nlast"),
      (#"{"n":"h/a?x=1\u0026token=S\u0026y=1"}"#, #"{"n":"h/a?x=1\u0026token=***\u0026y=1"}"#),
      (#"{"n":"https:\/\/u:S@h\/a?sig=S\/S","m":1}"#, #"{"n":"https:\/\/h\/a?sig=***","m":1}"#),
      (#"{"n":"<a href=\"h/?sig=S\">x</a>\nh/?sig=S\nx"}"#, #"{"n":"<a href=\"h/?sig=***\">x</a>\nh/?sig=***\nx"}"#),
      ("https://h/?sig=a(S)S next", "https://h/?sig=*** next"),
      ("<a href='a?x=1&amp;token=S'>", "<a href='a?x=1&amp;token=***'>"),
      ("a?x=1&#38;token=S&#38;y", "a?x=1&#38;token=***&#38;y"), ("https://u:S@h/a@b", "https://h/a@b"),
      ("see https://h/a#access_token=S", "see https://h/a#access_token=***"), ("h/a?sig&token=S", "h/a?sig&token=***"),
      ("h/a?access%5Ftoken=S%26S&b=1", "h/a?access%5Ftoken=***&b=1"),
      ("/a;token=S/b;token=S?c=1", "/a;token=***/b;token=***?c=1"),
      ("a?r=https%3A%2F%2Fu:S%40h%2F%3Ftoken%3DS%26b%3D1", "a?r=https%3A%2F%2Fh%2F%3Ftoken%3D***%26b%3D1"),
      ("h/Orders('a')?token=S x", "h/Orders('a')?token=*** x"), (" ?token=S", " ?token=***"),
      (#"{"__next":"http://h/Login?password='S''S&S/S S'&a='b'"}"#, #"{"__next":"http://h/Login?password=***&a='b'"}"#),
      ("h/a?sig=a'S'S&b=1", "h/a?sig=***&b=1"), ("h/a?sig='S'S b", "h/a?sig=*** b"), ("h/a?sig='S b", "h/a?sig=*** b"),
      ("h/a?sig='S b\nit's", "h/a?sig=*** b\nit's"), ("h/a?sig='S\nit's", "h/a?sig=***\nit's"),
      (#"["h/a?token='S","it's"]"#, #"["h/a?token=***","it's"]"#), ("h/a?token=%27S&S%27&b", "h/a?token=***&b"),
      (#"{"n":"h/a?token=\u0027S\u0027\u0026b=1"}"#, #"{"n":"h/a?token=***\u0026b=1"}"#),
      ("<a href='h/P('a')?token=S'>", "<a href='h/P('a')?token=***'>"), ("h/P('a')?token=S'S", "h/P('a')?token=***"),
      ("<a>h/P?token=&#39;S&amp;S&#39;&amp;a=1</a>", "<a>h/P?token=***&amp;a=1</a>"),
      ("h/a?r=%2FP%3Ftoken%3D%27S%26S%27%26b%3D1", "h/a?r=%2FP%3Ftoken%3D***%26b%3D1"),
      (#"{"access_token" : "S\"S\\","b":"c"}"#, #"{"access_token" : "***","b":"c"}"#),
      (#"{"password":"S\\u0022S\u0022S","b":1}"#, #"{"password":"***","b":1}"#),
      (#"{"password":"S\\\u0022S\\\\","b":1}"#, #"{"password":"***","b":1}"#),
      (#"{"a":"{\"password\":\"S\\u0022S\\\\\",\"b\":1}"}"#, #"{"a":"{\"password\":\"***\",\"b\":1}"}"#),
      (
        #"{"a":"{\u0022password\u0022:\u0022S\\\u0022S\\\\\u0022,\u0022b\u0022:1}"}"#,
        #"{"a":"{\u0022password\u0022:\u0022***\u0022,\u0022b\u0022:1}"}"#
      ),
      (#"{"a":"{\"password\":\"S\\\"S\",\"b\":1}"}"#, #"{"a":"{\"password\":\"***\",\"b\":1}"}"#),
      (#"{"a":"{\n  \"password\":\n \"S\"}"}"#, #"{"a":"{\n  \"password\":\n \"***\"}"}"#),
      (#"{"a":"{\"token\"\t:\r\n\t\"S\\\"S\",\n\"b\":1}"}"#, #"{"a":"{\"token\"\t:\r\n\t\"***\",\n\"b\":1}"}"#),
      (
        #"{"a":"{\"b\":\"{\\n\\\"token\\\" :\\n\\\"S\\\"}\"}"}"#,
        #"{"a":"{\"b\":\"{\\n\\\"token\\\" :\\n\\\"***\\\"}\"}"}"#
      ),
      ("AccountName=x;AccountKey=S/S+S==;Suffix=y/z", "AccountName=x;AccountKey=***;Suffix=y/z"),
      ("Endpoint=sb://h/;SharedAccessKey=S/S=;a=b", "Endpoint=sb://h/;SharedAccessKey=***;a=b"),
      ("Server=h,1433;Password=S/S?S;Encrypt=1", "Server=h,1433;Password=***;Encrypt=1"),
    ])
  func content(_ text: String, _ expected: String) {
    let exchange = RecordedExchange(url: "https://h/", status: 200, body: Array(text.utf8))
    #expect(String(decoding: exchange.body, as: UTF8.self) == expected)
    // Bytes before and after it that are not UTF-8 make no difference.
    let bytes = [0xE9, 0x22] + Array(text.utf8) + [0x22, 0xE9]
    #expect(
      RecordedExchange(url: "https://h/", status: 200, body: bytes).body == [0xE9, 0x22] + Array(expected.utf8) + [
        0x22, 0xE9,
      ])
  }

  @Test(
    "Text that is no secret stays",
    arguments: [
      "Is 1?code=2 ok", #"{"code":"A1","Key":"k","password":""}"#, "h/a?$skiptoken=1&$filter=code eq 'a'",
      "mail a://b, c@d", #"{"password":{},"a":"token"}"#, "h/a?tokens=1", "\\", "%", "\\u00", "?token",
      #"{"token":""#, "h/P?code='A1'&key=%27B%27 h/P?sid='it''s'", "<a href='h?token='>it's</a>",
      #"{"a":"['http://host','bob@x.de']"}"#, "<a href='http://h'title='a@b'>",
      "<p>&quot;http://h&quot;,&quot;a@b&quot;</p>",
      #"{"hasPassword":"Yes","password":"true","a":{"token":"NULL"}}"#, "<HasPassword>false</HasPassword>",
      "h/a?token=no&b=1#token=true", "password=null&b=1", "h/F(hasPassword=true,password=null)",
      "site=http://x&mail=a@b.de", "site=http://localhost:8080&mail=a@b.de", "http://x,a@b.de;c@d", "http://x;a@b|c@d",
      "//img@2x.png", "<img src='//img@2x.png'>", "[a](http://h)(b@c)", "x: ://a:b@c", "http://h?a@b http://h#a@b",
    ])
  func harmless(_ text: String) {
    #expect(
      String(decoding: RecordedExchange(url: "https://h/", status: 200, body: Array(text.utf8)).body, as: UTF8.self)
        == text)
  }

  @Test(
    "Values of options with a secret name are replaced",
    arguments: [
      "X-Amz-Signature", "X-Amz-Security-Token", "id_token", "sas_token", "jwt", "toKen[]", "clientSecret",
      "SAMLResponse",
      "client_assertion", "pwd", "sessionid", "X-Api-Key", "subscription-key", "code_verifier", "refreshToken",
      "SASToken", "clientsecret", "authtoken", "userpassword", "sessiontoken", "credentials", "accountKey",
      "authorization",
      "password2", "token_1", "sharedAccessKey",
    ])
  func options(_ name: String) {
    let url = "https://h/a?x=1&\(name)=S&y=1"
    #expect(RecordedExchange(url: url, status: 200).url == "https://h/a?x=1&\(name)=***&y=1")
    #expect(RecordedExchange(url: "https://h/#\(name)=S", status: 200).url == "https://h/#\(name)=***")
    #expect(RecordedExchange(url: "https://h/;\(name)=S?y", status: 200).url == "https://h/;\(name)=***?y")
  }

  @Test(
    "Strings of JSON members with a secret name are replaced",
    arguments: [
      "access_token", "idToken", "clientSecret", "client_secret", "PASSWORD", "apiKey", "sessionToken", "jwt",
      "APIToken", "DBPassword",
      "authtoken", "userpassword", "PASSWORDToken", "secretText", "secrettext", "SecretAccessKey", "accountKey",
      "sharedAccessKey", "authorization", "credential", "clientCredentials", "password2", "api_key_1", "SessionId",
      "SecretString", "passwordHash",
    ])
  func members(_ name: String) {
    let exchange = RecordedExchange(url: "https://h/", status: 200, body: Array(#"{"a":1,"\#(name)":"S"}"#.utf8))
    #expect(String(decoding: exchange.body, as: UTF8.self) == #"{"a":1,"\#(name)":"***"}"#)
  }

  @Test(
    "Tokens of lists and names in data stay",
    arguments: [
      "h/a?page_token=1&nextToken=2&$deltatoken=3&continuation-token=4", #"{"nextToken":"1","token_type":"bearer"}"#,
      #"{"passwordPolicy":"x","secretary":"Ada","sig":"s"}"#, #"{"ConcurrencyToken":"1","nextPageToken":"2"}"#,
      #"{"changeToken":"1","change_token":"2","next_page_token":"3","nextpagetoken":"4"}"#, "h/a?change-token=1",
      "h/a?nexttoken=1&concurrencytoken=2&NEXTToken=3", #"{"SYNCToken":"1","tokens":"2","OAuthTokens":"3"}"#,
      "h/a?paginationToken=1&trackingtoken=2&resumeToken=3&skiptoken=4&deltatoken=5&nextToken2=6&key1=7",
      #"{"paginationToken":"1","trackingtoken":"2","resumeToken":"3","nextTokenValue":"4"}"#,
      #"{"text":"1","hash":"2","accessKeyId":"3","sharedAccessKeyName":"4"}"#,
    ])
  func tokensOfLists(_ text: String) {
    let body = RecordedExchange(url: "https://h/", status: 200, body: Array(text.utf8)).body
    #expect(String(decoding: body, as: UTF8.self) == text)
  }

  @Test(
    "A secret name stays one with the words of a list's token behind it, or in a word that only ends like one",
    arguments: [
      "password_change_token", "passwordChangeToken", "PASSWORDSyncToken", "secret_next_page_token", "exchangetoken",
      "passwordnexttoken", "password2NextTokenValue", "exchange_token", "passwordchangetoken",
    ])
  func secretsBeforeTokensOfLists(_ name: String) {
    let url = "https://h/a?\(name)=S&y=1"
    let exchange = RecordedExchange(url: url, status: 200, body: Array(#"{"a":1,"\#(name)":"S"}"#.utf8))
    #expect(exchange.url == "https://h/a?\(name)=***&y=1")
    #expect(String(decoding: exchange.body, as: UTF8.self) == #"{"a":1,"\#(name)":"***"}"#)
  }

  @Test("Fields with sessions and tokens are not recorded; user information is removed from every URL")
  func fields() {
    let exchange = RecordedExchange(
      url: "//u:S@h/a?x=https://u:S@h/", status: 302,
      fields: [
        "Location": "https://u:S@h/#access_token=S", "WWW-Authenticate": "Negotiate S, Basic realm=\"a\"",
        "X-Auth": "S",
        "X-Session-Id": "S", "sap-contextid": "S", "mysapsso2": "S", "X-Amz-Security-Token": "S", "X-Auth-User": "S",
        "X-AuthToken": "S", "JSessionID": "S", "X-AuthSyncToken": "S", "X-SessionContinuationToken": "S",
        "X-NextPageToken": "2", "X-Continuation-Token": "3", "X_API_Key": "S", "Secret": "S", "X-Build-Key": "S",
        "Content-Location": "/s/Login?token='S'", "Cookie": "S", "ETag": "1", "Link": "<https://h/a?token=S>; rel=next",
        "Author": "Ada", "Access-Control-Allow-Credentials": "true",
      ])
    #expect(exchange.url == "//h/a?x=https://h/")
    #expect(
      exchange.fields == [
        "Location": "https://h/#access_token=***", "WWW-Authenticate": "Negotiate ***, Basic realm=\"a\"",
        "X-NextPageToken": "2", "X-Continuation-Token": "3", "Content-Location": "/s/Login?token=***", "ETag": "1",
        "Link": "<https://h/a?token=***>; rel=next", "Author": "Ada", "Access-Control-Allow-Credentials": "true",
      ])
  }

  @Test("Fields that are explicitly no credentials are recorded")
  func removedFields() {
    var credentials = CredentialFields()
    for name: HTTPFieldName in ["X-CSRF-Token", "X-Session-Id", "Content-Length"] { credentials.remove(name) }
    let exchange = RecordedExchange(
      url: "https://h/", status: 200,
      fields: ["x-csrf-token": "1", "X-Session-ID": "2", "Content-Length": "3", "Set-Cookie": "4"],
      credentialFields: credentials)
    #expect(exchange.fields == ["x-csrf-token": "1", "X-Session-ID": "2"])
  }

  @Test(
    "Redaction takes time in proportion to the content", .timeLimit(.minutes(1)),
    arguments: [
      #"/&x=1?abc=1:\\"#, "://a:b", "://a&b;", #""password":""#, #""password":"#, #""a"   "#, #"\"password\":\"x"#,
      "&key=",
      "&key='", "&key='''", "&key=''", "?code='a'", "(token='", ",token=,", "<password>", "<password ",
      "<a:password>x</",
      "<password><![CDATA[", "<password><!--", "<password>x<!--<password>-->", "<password>]]", "&token=&#39;",
      "%26token%3D%27", "<a></b>", #"{"value":["#, #"{"name":"token","value":1,"#, #""<a>","#, "eyJa.b.", "Bearer a1 ",
      "-----BEGIN PRIVATE KEY", "\n--b\nA: b\n\n", #"{"password":{"id":"#, "<password><b>x", "<a x='", "&lt;a",
      #"\u0026key=\u0027"#, #"\\u0022token"#, "(a ", "( ", ",%20", "&a%20", #"\"a\"\n"#, "a://b&c",
      "a://b,", "?@a={", "&a=[", "?@a=%7B%22a%22:", "?@a%3D%7B",
    ])
  func speed(_ pattern: String) {
    func time(_ count: Int) -> Double {
      let text = String(repeating: pattern, count: count)
      let start = Self.now()
      for body in ["/" + text, #"{"a":"\#(text)"}"#] {
        _ = RecordedExchange(url: "https://h/?" + text, status: 200, body: Array(body.utf8))
      }
      return Self.now() - start
    }
    let small = min(time(250), time(250), time(250))
    // In quadratic time, forty times the text takes 1600 times as long.
    #expect(time(10_000) < small * 300)
  }

  @Test(
    "Whether a field is a secret takes time in proportion to its name", .timeLimit(.minutes(1)),
    arguments: ["-1", "-text", "-text2", "1", "text", "-token", "-next-token", "a"])
  func speedOfNames(_ pattern: String) {
    func time(_ count: Int) -> Double {
      let name = HTTPFieldName("x-password" + String(repeating: pattern, count: count))
      let start = Self.now()
      _ = RecordedExchange(url: "https://h/", status: 200, fields: HTTPFields([HTTPField(name: name, value: "1")]))
      return Self.now() - start
    }
    let small = min(time(200), time(200), time(200))
    #expect(time(8000) < small * 300)
  }

  /// The time that the thread has computed: other processes make no difference.
  private static func now() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
  }

  @Test(
    "A request gets the response to its URL, however it is encoded, and to no other",
    arguments: [
      ("https://h/a?$filter=N%20eq%20'x'", "https://h/a?%24filter=N%20eq%20%27x%27", true),
      ("https://h/Orders(1)", "https://h/Orders%281%29", true), ("https://H", "HTTPS://h/", true),
      ("https://h/%61?b", "https://h/a?%62", true), ("https://h/a#x", "https://h/a", true),
      ("https://h/ä", "https://h/%C3%A4", true), ("https://h/%c3%a4", "https://h/%C3%A4", true),
      ("https://h/P?a=1%26b=2", "https://h/P?a=1&b=2", false), ("https://h/P?a%3D1=2", "https://h/P?a=1%3D2", false),
      ("https://h/P('a%2Fb')", "https://h/P('a/b')", false), ("https://h/P%3Fa=1", "https://h/P?a=1", false),
      ("https://h/P?a=b+c", "https://h/P?a=b%2Bc", false), ("https://h/P?a=%2525", "https://h/P?a=%25", false),
      ("https://h/P?key=1", "https://h/P?key=2", true), ("https://h/P", "https://h/p", false),
      ("https://h/L?@p={%22pwd%22:%221%22}", "https://h/L?%40p=%7B%22pwd%22%3A%222%22%7D", true),
      ("https://h/P?a=1&b=2", "https://h/P?b=2&a=1", false), ("https://h/P?a", "https://h/P", false),
    ])
  func matching(_ recorded: String, _ url: String, _ fits: Bool) {
    let exchange = RecordedExchange(url: recorded, status: 200)
    #expect(exchange.matches(method: .get, url: url) == fits)
    #expect(RecordedExchange(url: url, status: 200).matches(method: .get, url: recorded) == fits)
    #expect(!exchange.matches(method: .post, url: recorded))
  }

  @Test(
    "Arguments of functions with a secret name are replaced; keys and codes stay",
    arguments: [
      ("h/s/Login(user='b',password='S')", "h/s/Login(user='b',password=***)"),
      ("h/s/Login(password='S''S,)/S',user='b')/a", "h/s/Login(password=***,user='b')/a"),
      ("h/s/Login%28password=%27S%27%2Ctoken=S%29?a=1", "h/s/Login%28password=***%2Ctoken=***%29?a=1"),
      ("h/s/Login(password=@p)", "h/s/Login(password=***)"),
      ("h/s/Login(password=@p,user=@u)?@u='a'&@p='S'", "h/s/Login(password=***,user=@u)?@u='a'&@p=***"),
      ("h/s/Login(password=%40code)?%40code='S'", "h/s/Login(password=***)?%40code=***"),
      ("h/s/Login(a=@b)?@password='S'&@b='c'", "h/s/Login(a=@b)?@password=***&@b='c'"),
      ("h/s/P(code=@p)?@p='a'&@code='b'", nil), ("h/s/P(code='a',key=1,Sig='b')", nil),
      ("h/s/P?$filter=F(secret='a')", nil), ("h/s/Login( password = 'S')", "h/s/Login( password = ***)"),
      ("h/s/Login(user='b', password='S')", "h/s/Login(user='b', password=***)"),
      ("h/s/Login(id = 1, password = 'S')?a", "h/s/Login(id = 1, password = ***)?a"),
      ("h/s/Login(%20password%20=%20'S',%20a=1)", "h/s/Login(%20password%20=%20***,%20a=1)"),
      ("h/s/Login(a=1,%09token%20=%20@p%20)?%20@p%20='S'", "h/s/Login(a=1,%09token%20=%20***)?%20@p%20=***"),
      ("h/s/Login(token = @p)?@p='S'", "h/s/Login(token = ***)?@p=***"),
      ("h/s/Login(u=@p)?@p=%7B%22id%22:1,%22password%22:%22S%22%7D&a=1", "h/s/Login(u=@p)?@p=***&a=1"),
      ("h/s/Login(u=@p)?%40p%20=%20[%7B%22token%22%3A%22S%22%7D]#b", "h/s/Login(u=@p)?%40p%20=%20***"),
      ("h/s/F(u=@p)?u=%7B%22pwd%22:%22S%5C%22S%22%7D&b", "h/s/F(u=@p)?u=***&b"),
      ("h/s/F(u=@p)?@p=%7B%22password%22:%22%22,%22a%22:%22b%22%7D&a=[1]", nil),
      ("h/s/a?%20password%20=%20'S&S'&b=1", "h/s/a?%20password%20=%20***&b=1"), ("h/s/P( code = 'a' , key = 1)", nil),
    ])
  func functionArguments(_ url: String, _ expected: String?) {
    let exchange = RecordedExchange(url: url, status: 200, body: Array(#"{"n":"\#(url)"}"#.utf8))
    #expect(exchange.url == expected ?? url)
    #expect(String(decoding: exchange.body, as: UTF8.self) == #"{"n":"\#(expected ?? url)"}"#)
  }

  @Test("JSON with a secret is replaced as a whole if it is the value of an option, also if it is not encoded")
  func optionsOfJSON() {
    let exchange = RecordedExchange(url: #"https://h/F(u=@p)?@p={"a":{"password":"S S"}}&b=[{"a":1}]"#, status: 200)
    #expect(exchange.url == #"https://h/F(u=@p)?@p=***&b=[{"a":1}]"#)
  }

  @Test(
    "Texts of XML elements with a secret name, and the first option of a form, are replaced",
    arguments: [
      ("<d:Password>S &amp; S</d:Password><d:A>1</d:A>", "<d:Password>***</d:Password><d:A>1</d:A>"),
      ("<a><AccessToken m:type='x'>S\n</AccessToken></a>", "<a><AccessToken m:type='x'>***</AccessToken></a>"),
      ("<secret><![CDATA[S<S]]S]]></secret>", "<secret>***</secret>"),
      (
        #"{"a":"\u003cpassword\u003eS\u003c/password\u003e"}"#, #"{"a":"\u003cpassword\u003e***\u003c/password\u003e"}"#
      ),
      (#"{"a":"<password>S<\/password>"}"#, #"{"a":"<password>***<\/password>"}"#),
      ("<d:Password m:null='true'/><b>x</b>", nil), ("<d:Password></d:Password><b>x</b>", nil),
      ("<Secret>\n  <Text>S</Text>\n</Secret>", "<Secret>\n  <Text>***</Text>\n</Secret>"),
      ("<d:SkipToken>1</d:SkipToken><Key>k</Key><Code>1</Code>", nil),
      ("<secret><![CDATA[S]]>S<!-- > --> S</secret><a/>", "<secret>***</secret><a/>"),
      ("<secret>S<!-- <secret> -->S</secret><a/>", "<secret>***</secret><a/>"),
      ("<secret>\n<!-- S --><a>x</a></secret>", "<secret>\n<!-- S --><a>***</a></secret>"),
      ("<secret><![CDATA[S]]><a/></secret>", "<secret>***<a/></secret>"),
      ("<token><!-- <secret>S</secret> --><a/></token>", "<token><!-- <secret>***</secret> --><a/></token>"),
      ("<secret>S<!-- x", "<secret>***<!-- x"), ("<a><secret><![CDATA[S", "<a><secret>***"),
      (#"{"a":"<password>","b":"</password>"}"#, nil), (#"["<password><![CDATA[","S]]></password>"]"#, nil),
      (#" {"a":"<password","b":">x</password>"}"#, nil),
      (#"{"a":"<password>S<!--","b":"--></password>"}"#, #"{"a":"<password>***<!--","b":"--></password>"}"#),
      (#"{"a":"<password a=\"b\">S\"<![CDATA[\"]]></password>"}"#, #"{"a":"<password a=\"b\">***</password>"}"#),
      (#"{"a":"<password>","b":"<token>S</token>"}"#, #"{"a":"<password>","b":"<token>***</token>"}"#),
      (#"{"a":"curl <password>","b":"<b>x</b>"}"#, nil), ("<password>", nil), ("<password>S", "<password>***"),
      ("<password:a>x</password:a>", nil), ("<d:password", nil), ("<password>S</", "<password>***</"),
      ("<password>S</b>", "<password>***</b>"),
      ("access_token=S/S+S&b=c/d&token=S/S", "access_token=***&b=c/d&token=***"), ("password=S", "password=***"),
      ("a=1/2&password=S/S", "a=1/2&password=***"), ("token = S", nil), ("$skiptoken=1&b=2", nil),
    ])
  func elements(_ text: String, _ expected: String?) {
    let exchange = RecordedExchange(url: "https://h/", status: 200, body: Array(text.utf8))
    #expect(String(decoding: exchange.body, as: UTF8.self) == expected ?? text)
  }

  @Test(
    "Only user information is removed as such: a mail address after a URL stays",
    arguments: [
      ("https://h/F?site=http://x&mail=a@b.de", nil),
      ("h/P?$filter=Url%20eq%20'http%3A%2F%2Fx'%20and%20Mail%20eq%20'a%40b.de'", nil),
      ("h/P?$filter=Url%20eq%20%27http://x%27%20and%20Mail%20eq%20%27a@b.de%27", nil),
      ("h/P?a=%22http%3A%2F%2Fx%22%2C%22a%40b%22&c=http%3A%2F%2Fx%26d%3Da%40b", nil),
      ("h/P?a=http%3A%2F%2Fx%3Ca%40b", nil), ("https://u:S&S'S%26%20%27@h/", "https://h/"),
      ("h/P?a=https://u:S%26S@h/&b=c@d", "h/P?a=https://h/&b=c@d"),
      ("h/P?a=https%3A%2F%2Fu%3AS%2526S%40h%26b%3Dc%40d", "h/P?a=https%3A%2F%2Fh%26b%3Dc%40d"),
      ("https://S@h/a@b", "https://h/a@b"), ("https://bob@x.de:S@h/", "https://h/"), ("//u:S@h/", "//h/"),
      ("mongodb://u:S@h1:1,h2:2/d", "mongodb://h1:1,h2:2/d"), ("http://h/?a=1,http%3A%2F%2Fx%2Cb%40c", nil),
    ])
  func userInformation(_ url: String, _ expected: String?) {
    let exchange = RecordedExchange(url: url, status: 200, body: Array(url.utf8))
    #expect(exchange.url == expected ?? url)
    #expect(String(decoding: exchange.body, as: UTF8.self) == expected ?? url)
  }

  @Test("Content that is still encoded is replayed as such")
  func encoded() {
    let exchange = RecordedExchange(
      url: "https://h/", status: 200, fields: ["Content-Encoding": "br", "Content-Length": "2"], body: [0x8F, 0xFF])
    #expect(exchange.fields == ["Content-Encoding": "br"] && exchange.body == [0x8F, 0xFF])
  }

  @Test("An edited file is read as it is, also with secrets that are none")
  func edited() throws {
    let text = """
      {"larder":"exchanges","version":1,"exchanges":[{"request":"GET https://h/a?token=1","status":200,
      "fields":["X-Session-Id: 7","Set-Cookie: a=b"],"text":"{\\"password\\":\\"p\\"}"}]}
      """
    let recording = try RecordedExchanges(encoded: Array(text.utf8))
    let exchange = try #require(recording.exchanges.first)
    #expect(exchange.url == "https://h/a?token=1" && exchange.fields == ["X-Session-Id": "7", "Set-Cookie": "a=b"])
    #expect(exchange.body == Array(#"{"password":"p"}"#.utf8))
    #expect(exchange.matches(method: .get, url: "https://h/a?token=2"))
    #expect(try RecordedExchanges(encoded: recording.encoded) == recording)
  }

  @Test(
    "A file that is not a recording is rejected with the place",
    arguments: [
      ("", "it is empty"), ("x", "it is not JSON"), ("{}", "not written by"),
      (#"{"larder":"exchanges","version":2,"exchanges":[]}"#, "version is 2"),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET"}]}"#, "exchange 1: 'request'"),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":1}]}"#, "'status'"),
      (#"{"larder":"exchanges","version":1,"exchanges":[],"title":1}"#, "no member 'title'"),
      (
        #"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":200,"text":"","delay":1}]}"#,
        "exchange 1: there is no member 'delay'"
      ),
      (
        #"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":200,"text":"","base64":""}]}"#,
        "both"
      ),
      (
        #"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":200,"text":"","fields":{}}]}"#,
        "array"
      ),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":200,"base64":"?"}]}"#, "'base64'"),
    ])
  func invalid(_ text: String, _ words: String) {
    let error = #expect(throws: RecordingError.self) { try RecordedExchanges(encoded: Array(text.utf8)) }
    #expect(error?.description.contains(words) == true)
  }
}
