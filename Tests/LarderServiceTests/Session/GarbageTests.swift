import Foundation
import LarderHTTP
import LarderOData
import LarderODataXML
import LarderTestSupport
import Testing

@testable import LarderService

@Suite("Random input from services", .timeLimit(.minutes(5)))
struct GarbageTests {
  static let pieces = [
    "a", "=", ";", " ", "\t", ",", ":", "/", "//", "?", "#", "%", "%4", "%41", "'", "(", ")", "[", "]", "@", "\"", "é",
    "😀",
    "\u{0}", "\r\n", "http", "https://", "h.example", "Max-Age=", "Expires=", "Domain=", "Path=",
    "99999999999999999999",
    "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "9999", "Feb", "31", "08:49:37", "$value", "$ref", "P", "P(1)", "Next",
    "S.Q",
  ]

  static func text(_ generator: inout PrintedSeed) -> String {
    (0..<Int.random(in: 0...12, using: &generator)).map { _ in
      pieces.randomElement(using: &generator) ?? ""
    }.joined()
  }

  @Test("3,000 texts of invalid pieces give a value or a typed error, and never a field that ends its line")
  func texts() throws {
    var generator = PrintedSeed(for: "ODataService garbage")
    let root = try ODataServiceRoot(try #require(URL(string: "https://h.example/s/?c=1")))
    let model = try EdmModel.read(Array(PayloadTests.model.utf8))
    var jar = CookieJar(host: "h.example")
    for _ in 0..<3_000 {
      let text = Self.text(&generator)
      _ = HTTPDate.unixTime(text)
      _ = RetryAfter.delay(text, unixTime: .max)
      _ = RetryAfter.delay(text, unixTime: .min)
      _ = jar.storeCookies([text], path: text, now: .max)
      if let field = jar.field(path: "/s/P", isSecure: true, now: 0) {
        #expect(!field.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 })
      }
      _ = ResourceShape(path: text, model: model)
      _ = ResourceShape(url: text, model: model)
      _ = RedactedURL.text(text)
      _ = ODataVersion(header: text)
      guard let absolute = try? root.absoluteText(text) else { continue }
      let again = try? root.absoluteText(absolute)
      #expect(again == absolute, "encoding is done once: \(text.debugDescription)")
    }
  }
}
