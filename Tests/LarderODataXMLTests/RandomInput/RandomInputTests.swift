import Foundation
import LarderOData
import LarderODataXML
import LarderTestSupport
import Testing

/// What a service or a file may hold in place of what it should: reading ends with a value or a typed error, never with a
/// signal. `LARDER_RANDOM_INPUTS=100000` reads more of them.
@Suite("Random documents from the words of OData", .timeLimit(.minutes(20)))
struct RandomInputTests {
  private static let count =
    ProcessInfo.processInfo.environment["LARDER_RANDOM_INPUTS"].flatMap { Int($0) } ?? 600

  @Test("Each is read, or rejected with a typed error")
  func read() throws {
    let seed = PrintedSeed(for: "random documents").seed
    let model = try CSDLText.read(CSDLText.v4(Self.schema, namespace: "N"))
    var values = 0
    for number in 0..<Self.count {
      // Each has a seed of its own: one that fails is read alone with LARDER_SEED and a count of 1.
      var input = RandomInput(seed: seed &+ UInt64(number))
      let kind = input.chance(30) ? RandomInput.Kind.payload : input.one(of: RandomInput.Kind.allCases)
      let bytes = input.document(kind)
      do {
        try Self.read(bytes, as: kind, model: input.chance(50) ? model : nil, &input)
        values += 1
      } catch {
        let isKnown =
          error is PayloadError || error is MetadataError || error is AtomError || error is BatchError
        #expect(isKnown, "LARDER_SEED=\(seed &+ UInt64(number)) \(kind): \(error)")
        #expect(!"\(error)".isEmpty)
      }
    }
    print("random documents: \(Self.count), of them read to their end: \(values)")
    #expect(values > Self.count / 10)
  }

  private static func read(
    _ bytes: [UInt8], as kind: RandomInput.Kind, model: EdmModel?, _ input: inout RandomInput
  ) throws {
    let length = Int.random(in: 0...bytes.count, using: &input.random)
    let chunks = [Array(bytes[..<length]), Array(bytes[length...])]
    switch kind {
    case .payload:
      var options = PayloadOptions(model: model)
      if input.chance(30) { options.expectedType = EdmTypeReference(input.one(of: ["N.E", "N.C", "Edm.Int32"])) }
      if input.chance(30) { options.expected = input.one(of: [.entity, .property, .reference, .delta]) }
      if input.chance(20) { options.dialect = .v2 }
      let builder = PayloadBuilder()
      var reader = JSONPayloadReader(options: options)
      for chunk in chunks { try reader.read(chunk, into: builder) }
      try reader.finish(into: builder)
    case .metadataJSON, .metadataXML:
      let model = try EdmModel.read(bytes)
      for name in model.schemas.flatMap(\.entityTypes).map(\.qualifiedName) {
        _ = model.properties(of: name).count + model.annotations(target: name).count
      }
      #expect(model.diagnostics.allSatisfy { !$0.description.isEmpty })
    case .atom:
      let builder = PayloadBuilder()
      let reader = AtomPayloadReader(options: AtomOptions(model: model), handler: builder)
      for chunk in chunks { try reader.read(chunk) }
      try reader.finish()
    case .multipart:
      var reader = try MultipartBatchReader(contentType: "multipart/mixed; boundary=b")
      for chunk in chunks { _ = try reader.read(chunk) }
      _ = try reader.finish()
      _ = try MultipartBatchReader.responses(bytes, contentType: "multipart/mixed; boundary=b")
    case .batchJSON:
      var reader = JSONBatchReader()
      for chunk in chunks { _ = try reader.read(chunk) }
      _ = try reader.finish()
    }
  }

  private static let schema = """
    <EntityType Name="E" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="A" Type="N.C"/>
    <Property Name="B" Type="Collection(Edm.Decimal)"/><Property Name="Name" Type="Edm.GeographyPoint"/>
    <NavigationProperty Name="L" Type="Collection(N.E)"/></EntityType>
    <ComplexType Name="C"><Property Name="A" Type="Edm.Date"/><Property Name="B" Type="N.C"/></ComplexType>
    <EntityContainer Name="K"><EntitySet Name="Es" EntityType="N.E"/></EntityContainer>
    """
}
