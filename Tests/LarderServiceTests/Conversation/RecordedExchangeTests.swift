import LarderHTTP
import LarderService
import Testing

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
    let text = String(decoding: recording.file, as: UTF8.self)
    #expect(text.contains(#""request": "GET https://h/s/Orders""#) && text.contains("\"base64\": \"/wA=\""))
    #expect(try RecordedExchanges(file: recording.file) == recording)
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
    let all = String(decoding: RecordedExchanges([exchange]).file, as: UTF8.self)
    for secret in ["pass"] + (1...9).map({ "T\($0)" }) + ["TA"] { #expect(!all.contains(secret), "\(secret)") }
    #expect(exchange.url == "https://h/s/a?access_token=***&$top=1&sig=***")
    #expect(exchange.fields == ["Location": "https://h/x?code=***", "Content-Type": "text/plain"])
    #expect(
      String(decoding: exchange.body, as: UTF8.self)
        == #"{"next":"https://h/s/a?$skip=1&token=***","href":"?a=1&amp;sig=***","plain":"a&b=c key=1"}"#)
  }

  @Test(
    "A file that is not a recording is refused with the place",
    arguments: [
      ("x", "it is not JSON"), ("{}", "not written by"),
      (#"{"larder":"exchanges","version":2,"exchanges":[]}"#, "version is 2"),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET"}]}"#, "exchange 1: 'request'"),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":1}]}"#, "'status'"),
      (#"{"larder":"exchanges","version":1,"exchanges":[{"request":"GET u","status":200,"base64":"?"}]}"#, "'base64'"),
    ])
  func invalid(_ text: String, _ words: String) {
    let error = #expect(throws: RecordingError.self) { try RecordedExchanges(file: Array(text.utf8)) }
    #expect(error?.description.contains(words) == true)
  }
}
