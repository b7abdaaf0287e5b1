import Testing

@testable import LarderOData

@Suite("Payloads in other encodings than UTF-8 (RFC 8259 §8.1)", .timeLimit(.minutes(1)))
struct PayloadEncodingTests {
  static let text = ##"{"value":[{"Name":"é €","Sign":"𝄞","Plain":"x"},{"Name":"ÿ"}]}"##

  enum Form: String, CaseIterable {
    case utf16LE, utf16BE, utf32LE, utf32BE

    func bytes(_ text: String, mark: Bool) -> [UInt8] {
      let text = (mark ? "\u{FEFF}" : "") + text
      switch self {
      case .utf16LE: return text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      case .utf16BE: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
      case .utf32LE, .utf32BE:
        let units = text.unicodeScalars.map { scalar in
          [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
        }
        return units.flatMap { self == .utf32BE ? $0 : $0.reversed() }
      }
    }
  }

  @Test("UTF-16 and UTF-32, with a mark or without, split anywhere", arguments: Form.allCases, [true, false])
  func wide(form: Form, mark: Bool) throws {
    let expected = try readPayload(Self.text)
    let bytes = form.bytes(Self.text, mark: mark)
    #expect(try readPayload([bytes]) == expected)
    #expect(try readPayload(bytes.map { [$0] }) == expected)
    for border in 0...bytes.count {
      #expect(try readPayload([Array(bytes[..<border]), Array(bytes[border...])]) == expected, "\(border)")
    }
    // A truncated text is rejected as in any other encoding.
    for end in [0, 1, 2, 3, 5, bytes.count - 1] {
      #expect(throws: PayloadError.self) { try readPayload([Array(bytes[..<end])]) }
    }
  }

  @Test(
    "A single-byte encoding, if the media type names it",
    arguments: [
      ("ISO-8859-1", [0xE9, 0x20, 0x80], "é €"), ("latin1", [0xE9, 0x81, 0xFF], "é\u{81}ÿ"),
      ("windows-1252", [0x93, 0xDF, 0x94], "“ß”"), ("ISO-8859-15", [0xA4, 0xBD, 0xE4], "€œä"),
      // One that is wrong: the first character beyond ASCII is one of UTF-8.
      ("ISO-8859-1", [0xC3, 0xA9, 0xE2, 0x82, 0xAC], "é€"), ("us-ascii", [0xC3, 0xA9], "é"),
      ("utf8", [0xC3, 0xA9], "é"),
      // The first decides.
      ("ISO-8859-1", [0xE9, 0x22, 0x2C, 0x22, 0x62, 0x22, 0x3A, 0x22, 0xC3, 0xA9], "é"),
    ] as [(String, [UInt8], String)])
  func single(charset: String, bytes: [UInt8], text: String) throws {
    var options = PayloadOptions()
    options.charset = charset
    let payload = Array(##"{"a":""##.utf8) + bytes + Array(##""}"##.utf8)
    let whole = try readPayload([payload], options: options)
    #expect(whole.entity?["a"] == .string(text))
    #expect(try readPayload(payload.map { [$0] }, options: options) == whole)
  }

  @Test("Invalid characters are rejected at their position")
  func none() {
    var latin1 = PayloadOptions()
    latin1.charset = "iso-8859-1"
    func units(_ units: [UInt16]) -> [UInt8] { units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }
    let open = Array(##"{"a":""##.utf16)
    let close = Array(##""}"##.utf16)
    let cases: [([UInt8], PayloadOptions)] = [
      (Array(##"{"a":""##.utf8) + [0xE9] + Array(##""}"##.utf8), PayloadOptions()),
      // Read as UTF-8 from its first character on.
      (Array(##"{"a":"é"##.utf8) + [0xE9] + Array(##""}"##.utf8), latin1),
      (units(open + [0xD834] + close), PayloadOptions()), (units(open + [0xDD1E] + close), PayloadOptions()),
    ]
    for (bytes, options) in cases {
      guard case .failure(let error)? = outcome([bytes], options: options) else {
        Issue.record("taken")
        continue
      }
      #expect(error.problem == .json(.invalidUTF8))
      #expect(error.path == "$.a")
      #expect(error.offset >= 6)
    }
  }

  @Test(
    "a context without # is a service document's only where nothing speaks against it (OData JSON Format 4.01 §10.1)")
  func context() throws {
    let document = ##"{"@odata.context":"$metadata","value":[{"name":"A","url":"A"}]}"##
    guard case .serviceDocument(let service) = try readPayload(document) else { throw Failure() }
    #expect(service.elements.count == 1)
    guard case .serviceDocument = try readPayload(##"{"@odata.context":"$metadata","value":[]}"##) else {
      throw Failure()
    }
    let rows = ##"{"@odata.context":"http://h/s/$metadata","value":[{"ID":1}],"@odata.count":1}"##
    #expect(try readPayload(rows).collection?.entities.count == 1)
    let late = ##"{"value":[{"ID":1}],"@odata.context":"http://h/s/$metadata"}"##
    #expect(try readPayload(late).collection?.entities.count == 1)
    var expected = PayloadOptions()
    expected.expected = .collection
    #expect(try readPayload(document, options: expected).collection?.entities.count == 1)
    #expect(ContextURL("http://h/$metadata%23A/$delta").item == .delta)
  }

  struct Failure: Error {}
}
