import LarderOData
import LarderODataXML
import Testing

@Suite("CSDL XML: hostile and broken input", .timeLimit(.minutes(5)))
struct CSDLAttackTests {
  private static func failure(_ bytes: [UInt8], limits: MetadataLimits = MetadataLimits()) -> MetadataError? {
    do {
      _ = try EdmModel.read(bytes, limits: limits)
      return nil
    } catch { return error }
  }

  private static func failure(_ text: String) -> MetadataError? { failure(Array(text.utf8)) }

  @Test(
    "Other documents are rejected and named",
    arguments: [
      ("", MetadataError.Reason.empty, ""), (" \n\t ", .empty, ""),
      ("<!DOCTYPE html><html><body>Log in</body></html>", .notMetadata, "HTML"),
      ("<html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", .notMetadata, "HTML"),
      ("<service xmlns='http://www.w3.org/2007/app'/>", .notMetadata, "service document"),
      ("<feed xmlns='http://www.w3.org/2005/Atom'/>", .notMetadata, "Atom"),
      ("<m:error xmlns:m='urn:m'><m:code/></m:error>", .notMetadata, "OData error"),
      ("{\"error\":{\"code\":\"1\",\"message\":\"no\"}}", .notMetadata, "OData error"),
      ("{\"d\":{\"results\":[]}}", .notMetadata, "payload"), ("[1]", .notMetadata, "JSON"),
      ("Not found", .malformed, "does not begin"), ("|<Edmx/>", .malformed, "does not begin"),
      ("<Edmx/><Edmx/>", .malformed, ""), ("<Edmx><a></b></Edmx>", .malformed, "mismatch"),
      ("<Edmx a='1' a='2'/>", .malformed, ""), ("<Edmx>&nbsp;</Edmx>", .malformed, ""),
      ("<?xml version='1.0' encoding='klingon'?><Edmx/>", .notSupported, ""),
    ])
  func otherDocuments(_ text: String, _ reason: MetadataError.Reason, _ message: String) throws {
    let error = try #require(Self.failure(text))
    #expect(error.reason == reason)
    #expect(message.isEmpty || error.message.contains(message))
    #expect(error.location.line != nil && !error.cure.isEmpty)
  }

  @Test(
    "A document type declaration is rejected before its content is read",
    arguments: [
      "<!DOCTYPE lolz [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'><!ENTITY c '&b;&b;&b;'>]><Edmx>&c;</Edmx>",
      "<!DOCTYPE Edmx [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><Edmx>&x;</Edmx>",
      "<!DOCTYPE Edmx SYSTEM 'http://127.0.0.1:9/x.dtd'><Edmx/>",
      "<!DOCTYPE Edmx [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><Edmx/>",
    ])
  func documentType(_ text: String) {
    #expect(Self.failure(text)?.reason == .documentTypeRejected)
  }

  @Test("100,000 nested elements give a typed error")
  func deep() {
    let text = CSDLText.v4(String(repeating: "<Annotation Term='T.A'>", count: 100_000))
    #expect(Self.failure(text)?.reason == .tooDeep)
    let records = "<Annotation Term='a'><Collection>" + String(repeating: "<Collection>", count: 100_000)
    #expect(Self.failure(CSDLText.v4(records))?.reason == .tooDeep)
    #expect(Self.failure(String(repeating: "[", count: 100_000))?.reason == .tooDeep)
  }

  @Test("A long attribute is read; one beyond the limit is rejected, in bounded memory")
  func longAttribute() throws {
    let text = String(repeating: "x", count: 1 << 20)
    #expect(try CSDLText.annotation("String='\(text)'/>")?.value?.string?.utf8.count == 1 << 20)
    let limits = MetadataLimits(tokenByteLimit: 1 << 19)
    let document = CSDLText.v4("<EntityType Name='\(text)'/>")
    #expect(Self.failure(Array(document.utf8), limits: limits)?.reason == .tooLarge)
    #expect(Self.failure(Array(document.utf8), limits: MetadataLimits(documentByteLimit: 1 << 19))?.reason == .tooLarge)
  }

  @Test("A tag of 200,000 attributes is rejected quickly")
  func manyAttributes() {
    let attributes = (0..<200_000).map { " a\($0)='1'" }.joined()
    #expect(Self.failure(CSDLText.v4("<EntityType Name='E'\(attributes)/>"))?.reason == .tooLarge)
  }

  private static let small = CSDLText.v4(
    """
    <!-- c --><EntityType Name='Ä'><Key><PropertyRef Name='id'/></Key><Property Name='id' Type='Edm.String' MaxLength='3'/>
    <Annotation Term='T.A'><Record><PropertyValue Property='p'><String>&lt;<![CDATA[x]]>&#228;</String></PropertyValue>
    </Record></Annotation></EntityType><?pi x?>
    """)

  @Test("A document truncated at any byte is an error with a position")
  func truncated() {
    let bytes = Array(Self.small.utf8)
    for end in 1..<bytes.count {
      guard let error = Self.failure(Array(bytes[..<end])) else {
        Issue.record("cut at \(end) was read")
        continue
      }
      #expect([.truncated, .malformed].contains(error.reason), "cut at \(end): \(error)")
    }
  }

  @Test("One byte at a time gives the same model as all at once", arguments: ["utf-8", "utf-16", "latin-1", "bom"])
  func chunks(_ encoding: String) throws {
    let whole = try CSDLText.read(Self.small)
    let bytes: [UInt8]
    switch encoding {
    case "utf-16":
      let text = "<?xml version='1.0' encoding='UTF-16'?>" + Self.small
      bytes = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    case "latin-1":
      let text = "<?xml version='1.0' encoding='ISO-8859-1'?>" + Self.small
      bytes = text.unicodeScalars.map { UInt8($0.value) }
    case "bom": bytes = [0xEF, 0xBB, 0xBF] + Array(Self.small.utf8)
    default: bytes = Array(Self.small.utf8)
    }
    #expect(try EdmModel.read(bytes) == whole)
    let reader = CSDLReader()
    for byte in bytes { try reader.push([byte]) }
    let model = try reader.finish()
    #expect(model == whole && model.entityType("NS.Ä") != nil)
    #expect(model.entityType("NS.Ä")?.annotations.first?.value?["p"]?.string == "<xä")
  }

  @Test("White space before the XML declaration is skipped with a diagnostic")
  func leadingSpace() throws {
    let model = try CSDLText.read("\r\n\n  <?xml version='1.0'?>" + CSDLText.v4("<EntityType Name='E' X='1'/>"))
    #expect(model.diagnostics.map(\.kind) == [.unusualForm, .unknownAttribute])
    #expect(model.diagnostics.last?.location.line == 5)
  }

  @Test("A prefix that is not declared is a diagnostic")
  func undeclaredPrefix() throws {
    let model = try CSDLText.read(CSDLText.v4("<EntityType Name='E' sap:label='x'/>"))
    #expect(model.entityType("NS.E")?.foreignAttributes.first?.value == "x")
    #expect(model.diagnostics.contains { $0.kind == .unusualForm })
  }

  @Test("Random changes of bytes give a model or a typed error", arguments: [1, 2, 3, 4] as [UInt64])
  func random(_ seed: UInt64) {
    print("seed \(seed)")
    var generator = SplitMix(state: seed)
    let bytes = Array(Self.small.utf8)
    for _ in 0..<1000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<changed.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: changed[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: changed.remove(at: place)
        default: changed.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        }
      }
      if let error = Self.failure(changed) { #expect(!error.description.isEmpty) }
    }
  }

  @Test("After an error, the reader throws it again")
  func repeated() {
    let reader = CSDLReader()
    #expect(throws: MetadataError.self) { try reader.push(Array("<a/>".utf8)) }
    #expect(throws: MetadataError.self) { try reader.push(Array("<Edmx/>".utf8)) }
    #expect(throws: MetadataError.self) { try reader.finish() }
  }

  @Test("A document of several megabytes is read completely")
  func large() throws {
    let types = (0..<5000).map { number in
      "<EntityType Name='T\(number)'><Key><PropertyRef Name='id'/></Key><Property Name='id' Type='Edm.Int32'/>"
        + (0..<8).map { "<Property Name='property\($0)' Type='Edm.String' MaxLength='40'/>" }.joined()
        + "<Annotation Term='self.Note' String='some text on the type'/></EntityType>"
    }.joined(separator: "\n")
    let text = CSDLText.v4(types)
    #expect(text.utf8.count > 2_500_000)
    let model = try CSDLText.read(text)
    #expect(model.schemas.first?.entityTypes.count == 5000 && model.diagnostics.isEmpty)
    #expect(model.structure("self.T4999")?.properties.count == 9)
  }
}

/// A generator that repeats a run from its seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
