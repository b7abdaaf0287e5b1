import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder payload", .timeLimit(.minutes(5)))
struct PayloadVerbTests {
  @Test(
    "Every format becomes normalised JSON",
    arguments: [
      (
        #"{"d":{"results":[{"__metadata":{"type":"N.P","uri":"u","etag":"W/\"1\""},"ID":1,"When":"\/Date(0)\/","Price":"1.50"}],"__count":"7"}}"#,
        [#""kind":"collection""#, #""count":7"#, #""type":"N.P""#, #""etag":"W/\"1\"""#]
      ),
      (
        #"{"@odata.context":"http://h/$metadata#P","value":[{"ID":1,"Big":12345678901234567890.10}],"@odata.nextLink":"n"}"#,
        [#""kind":"collection""#, #""nextLink":"n""#, #""value":12345678901234567890.10"#]
      ),
      (
        #"{"error":{"code":"c","message":{"lang":"en","value":"m"}}}"#,
        [#""kind":"error","code":"c","message":"m","messageLanguage":"en""#]
      ),
      (
        #"{"@odata.context":"$metadata","value":[{"name":"P","kind":"EntitySet","url":"P"}]}"#,
        [#""kind":"serviceDocument""#]
      ),
      ("42", [#"{"kind":"count","count":42}"#]),
      (
        #"<entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>u</id><category term="N.P" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/><content type="application/xml"><m:properties><d:ID m:type="Edm.Int32">1</d:ID></m:properties></content></entry>"#,
        [#""kind":"entity","type":"N.P","id":"u""#, #"{"name":"ID","type":"Edm.Int32","value":1}"#]
      ),
      ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n5", [#""count":5"#]),
    ] as [(String, [String])])
  func forms(payload: String, expected: [String]) async throws {
    let outcome = await Rig(input: Array(payload.utf8)).run("payload", "--file", "-")
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    for part in expected { #expect(outcome.output.contains(part)) }
    _ = try JSONNode(outcome.outputBytes)
  }

  @Test(
    "A response whose status says more than its content is shown by its kind",
    arguments: [
      (
        "HTTP/1.1 204 No Content\r\nOData-EntityId: http://h/P(1)\r\nETag: W/\"1\"\r\n\r\n",
        #"{"kind":"noContent","status":204,"entityID":"http://h/P(1)","etag":"W/\"1\""}"#
      ),
      ("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", #"{"kind":"notModified","status":304,"etag":"\"x\""}"#),
      (
        "HTTP/1.1 202 Accepted\r\nLocation: /m\r\nRetry-After: 3\r\n\r\n",
        #"{"kind":"accepted","status":202,"location":"/m","retryAfter":"3"}"#
      ),
      (
        "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n\r\n{\"error\":{\"code\":\"c\",\"message\":\"m\"}}",
        #"{"kind":"accepted","status":202,"content":{"kind":"error","code":"c","message":"m"}}"#
      ),
      (
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Type: application/json\r\n\r\n{\"va",
        #"{"kind":"partialContent","status":206,"contentRange":"bytes 0-3/10"}"#
      ),
      ("HTTP/1.1 302 Found\nLocation: /x\n\n", #"{"kind":"empty","status":302,"location":"/x"}"#),
      (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n5",
        #"{"kind":"count","count":5}"#
      ),
    ])
  func responses(recorded: String, shown: String) async {
    let outcome = await Rig(input: Array(recorded.utf8)).run("payload", "--file", "-")
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(outcome.output == shown + "\n" && outcome.diagnostics.isEmpty)
  }

  @Test("Content of a 202 that is not a payload is reported")
  func acceptedText() async {
    let recorded = "HTTP/1.1 202 Accepted\r\nContent-Type: text/html\r\n\r\n<p>wait</p>"
    let outcome = await Rig(input: Array(recorded.utf8)).run("payload", "--file", "-")
    #expect(outcome.output == "{\"kind\":\"accepted\",\"status\":202}\n")
    #expect(
      outcome.diagnostics.contains(
        "the content of the response with status 202 is not a payload: the content type text/html"))
  }

  @Test("With the model, values have their declared types")
  func typed() async throws {
    let folder = try TemporaryFolder()
    let model = try folder.write(Array(MetadataVerbTests.v4.utf8), to: "m.xml")
    let payload = #"{"value":[{"ID":1,"Price":2.50,"Tags":["a"]}]}"#
    let outcome = await Rig(input: Array(payload.utf8)).run(
      "payload", "--file", "-", "--metadata", model, "--url", "https://h/svc/Products?$top=1")
    #expect(outcome.output.contains(#"{"name":"ID","type":"Edm.Int32","value":1}"#))
    #expect(outcome.output.contains(#"{"name":"Price","type":"Edm.Decimal","value":2.50}"#))
    #expect(outcome.output.contains(#"{"name":"Tags","type":"Collection(Edm.String)","value":["a"]}"#))
  }

  @Test(
    "A payload that cannot be read exits with 4 and names the position",
    arguments: [
      "", "{", "[1,", "{\"a\":tru}", "<entry", "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>", "\u{1}\u{2}", "12x",
      "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nxx",
    ])
  func unreadable(payload: String) async {
    let outcome = await Rig(input: Array(payload.utf8)).run("payload", "--file", "-")
    #expect(outcome.status == .storage, "\(outcome.output)")
    #expect(outcome.diagnostics.hasPrefix("larder: -: "))
    #expect(outcome.outputBytes.isEmpty)
  }

  @Test("100,000 levels of nesting are an error", arguments: ["[", "{\"a\":", "<a>"])
  func deep(open: String) async {
    let payload = String(repeating: open, count: 100_000)
    #expect(await Rig(input: Array(payload.utf8)).run("payload", "--file", "-").status == .storage)
  }

  @Test("Messages in a recorded head are shown")
  func messages() async {
    let recorded =
      "HTTP/1.1 200 OK\r\nsap-message: {\"code\":\"C\",\"message\":\"hello\",\"severity\":\"warning\"}\r\n\r\n1"
    let outcome = await Rig(input: Array(recorded.utf8)).run("payload", "--file", "-", "--content-type", "text/plain")
    #expect(outcome.diagnostics == "warning: hello [C]\n")
  }
}
