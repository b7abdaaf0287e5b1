import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Which fields are stored and updated (RFC 9111 §3.1, §3.2)", .timeLimit(.minutes(5)))
struct StoredFieldsTests {
  static func names(_ fields: HTTPFields) -> [String] { fields.map(\.name.rawName) }

  @Test("all but those of the connection, of the proxy, and those named by Connection and no-cache")
  func stored() {
    let fields: HTTPFields = [
      "Connection": "a, \"q\", B", "Keep-Alive": "1", "TE": "x", "Transfer-Encoding": "x", "Upgrade": "x",
      "Proxy-Connection": "x", "Proxy-Authenticate": "x", "Proxy-Authentication-Info": "x",
      "Proxy-Authorization": "x", "A": "1", "b": "2", "C": "3", "d": "4", "Set-Cookie": "a=b", "Unheard-Of": "5",
      "Content-Length": "3", "Trailer": "x", "Cache-Control": "max-age=5, no-cache=\"D\"", "connection": "c",
    ]
    let stored = StoredFields.toStore(fields, CacheControl(fields))
    #expect(Self.names(stored) == ["Set-Cookie", "Unheard-Of", "Content-Length", "Trailer", "Cache-Control"])
  }

  @Test("Vary and Cache-Control are evaluated at each use, so they are stored even if Connection lists them")
  func evaluated() {
    let fields: HTTPFields = [
      "Connection": "vary, cache-control, a", "Vary": "B", "Cache-Control": "max-age=5", "A": "1",
    ]
    #expect(Self.names(StoredFields.toStore(fields, CacheControl(fields))) == ["Vary", "Cache-Control"])
  }

  @Test(
    "a 304 replaces every field it has",
    arguments: [
      "Test-Header", "X-Test-Header", "Content-Foo", "Cache-Control", "Content-Location", "Content-MD5",
      "Content-Security-Policy", "Content-Type", "Content-Range", "Clear-Site-Data", "ETag",
      "Expires", "Set-Cookie", "X-Frame-Options", "Vary",
    ])
  func replaced(name: String) {
    let name = HTTPFieldName(name)
    let stored: HTTPFields = ["Date": "1", name: "old", "Other": "kept"]
    let updated = StoredFields.updated(stored, by: ["Date": "2", name: "new"])
    #expect(updated.values(of: name) == ["new"])
    #expect(updated.values(of: "Date") == ["2"])
    #expect(updated.values(of: "Other") == ["kept"])
  }

  @Test("several lines of a name replace several, in their order")
  func lines() {
    var stored: HTTPFields = ["A": "1", "B": "2"]
    stored.append("a", "3")
    var response: HTTPFields = ["A": "4"]
    response.append("A", "5")
    response.append("C", "6")
    #expect(StoredFields.updated(stored, by: response) == ["B": "2", "A": "4", "A": "5", "C": "6"])
  }

  @Test(
    "a 304 never says that the stored bytes have another coding",
    arguments: [("gzip", "identity"), ("gzip", "br"), ("gzip", ""), ("gzip", "gzip, gzip"), (nil, "gzip")]
      as [(String?, String)])
  func coding(stored: String?, received: String) {
    var fields: HTTPFields = ["ETag": "\"1\""]
    fields["Content-Encoding"] = stored
    let updated = StoredFields.updated(fields, by: ["ETag": "\"1\"", "Content-Encoding": received, "A": "1"])
    #expect(updated["Content-Encoding"] == stored)
    #expect(updated["A"] == "1")
  }

  @Test(
    "never replaced: what says how the stored content is made, and what is not stored",
    arguments: [
      ("Content-Length", "10"), ("Connection", "x"), ("Keep-Alive", "x"), ("Transfer-Encoding", "chunked"),
      ("Proxy-Authenticate", "x"), ("Content-Encoding", "gzip"), ("Content-Range", "bytes 0-1/2"),
    ])
  func untouched(name: String, value: String) {
    let stored: HTTPFields = ["Content-Length": "36", "A": "1"]
    #expect(StoredFields.updated(stored, by: [HTTPFieldName(name): value]) == stored)
  }

  @Test("the range of stored ranges stays, Age goes, and what Connection names of the 304 is not taken")
  func special() {
    let ranges: HTTPFields = ["Content-Range": "bytes 0-1/9"]
    #expect(StoredFields.updated(ranges, by: ["Content-Range": "bytes 2-3/9"], isPartial: true) == ranges)
    #expect(StoredFields.updated(["Age": "50", "A": "1"], by: ["B": "2"]) == ["A": "1", "B": "2"])
    #expect(StoredFields.updated(["Age": "50"], by: ["Age": "3"]) == ["Age": "3"])
    #expect(StoredFields.updated(["A": "1"], by: ["A": "2", "Connection": "a"]) == ["A": "1"])
  }

  @Test("fields that no-cache names are not stored, whichever response names them (§5.2.2.4)")
  func named() {
    let said: HTTPFields = ["Cache-Control": "no-cache=\"Set-Cookie\""]
    #expect(
      StoredFields.updated(said, by: ["Set-Cookie": "a=b", "A": "1"]) == [
        "Cache-Control": "no-cache=\"Set-Cookie\"", "A": "1",
      ])
    #expect(
      StoredFields.updated(["Set-Cookie": "a=b", "A": "1"], by: said) == [
        "A": "1", "Cache-Control": "no-cache=\"Set-Cookie\"",
      ])
    #expect(
      StoredFields.updated(said, by: ["Cache-Control": "max-age=5", "Set-Cookie": "a"]) == [
        "Cache-Control": "max-age=5", "Set-Cookie": "a",
      ])
  }

  @Test("metadata made, confirmed and invalidated")
  func metadata() {
    let fields: HTTPFields = [
      "Vary": "B, a", "Cache-Control": "max-age=60", "Connection": "x", "ETag": "\"1\"", "Age": "9",
    ]
    let rules = StoredRules(status: 200, fields: fields, requestTime: 1, responseTime: 2)
    let cacheMetadata = CacheMetadata(
      url: "http://h/", request: ["A": " 1 , 2", "C": "3"], response: rules, fields: fields, requestTime: 1)
    #expect(cacheMetadata.selecting == ["a": "1,2"])
    #expect(cacheMetadata.fields == ["Vary": "B, a", "Cache-Control": "max-age=60", "ETag": "\"1\"", "Age": "9"])
    #expect(cacheMetadata.responseMilliseconds == 2)
    let outdated = cacheMetadata.invalidated
    #expect(StoredRules(outdated).isInvalidated)
    let response = CacheMetadata(
      url: "http://h/", status: 304, fields: ["Cache-Control": "max-age=5"], requestTime: 30, responseTime: 40)
    let confirmed = outdated.confirmed(by: response)
    #expect(confirmed.selecting == ["a": "1,2"])
    let again = StoredRules(confirmed)
    #expect(!again.isInvalidated)
    #expect(again.lifetime == 5000)
    #expect(again.initialAge == 10)
    #expect(again.etag == "\"1\"")
  }
}
