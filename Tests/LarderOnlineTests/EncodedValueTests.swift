import Foundation
import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("Online, values of an application's types are encoded by the declared types", .timeLimit(.minutes(2)))
struct EncodedValueTests {
  private static let types = [
    "Boolean", "Int32", "Int64", "Decimal", "Double", "String", "Date", "DateTimeOffset", "TimeOfDay", "Duration",
    "Guid", "Binary",
  ]

  private static var metadata: StubService.Response {
    let properties = types.map { "<Property Name=\"\($0)\" Type=\"Edm.\($0)\"/>" }.joined()
    return .ok(
      """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
      <Schema Namespace="S" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="E"><Key>\
      <PropertyRef Name="Int32"/></Key>\(properties)<Property Name="Color" Type="S.Color"/>\
      <Property Name="Second" Type="Edm.DateTimeOffset" Precision="0"/>\
      <Property Name="Stamp" Type="S.Stamp"/>\
      <Property Name="Milliseconds" Type="Collection(Edm.DateTimeOffset)" Precision="3"/>\
      <Property Name="Place" Type="S.Place"/><Property Name="Texts" Type="Collection(Edm.String)"/>\
      <NavigationProperty Name="One" Type="S.E"/></EntityType>\
      <ComplexType Name="Town" BaseType="S.Place"><Property Name="Size" Type="Edm.Decimal"/></ComplexType>\
      <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/></ComplexType>\
      <TypeDefinition Name="Stamp" UnderlyingType="Edm.DateTimeOffset" Precision="1"/>\
      <EnumType Name="Color"><Member Name="Red" Value="1"/></EnumType>\
      <EntityContainer Name="C"><EntitySet Name="All" EntityType="S.E"/></EntityContainer></Schema>\
      </edmx:DataServices></edmx:Edmx>
      """, ["Content-Type": "application/xml", "OData-Version": "4.0"])
  }

  /// One property with a value of any type.
  struct One: Encodable {
    let name: String
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(value, forKey: Key(name))
    }

    struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ name: String) { stringValue = name }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let value: any Encodable & Sendable
    /// The JSON that is sent; nil if the value does not fit.
    let json: String?
    var testDescription: String { "\(value) as \(name)" }

    init(_ name: String, _ value: any Encodable & Sendable, _ json: String?) {
      (self.name, self.value, self.json) = (name, value, json)
    }
  }

  private enum Color: String, Encodable { case red = "Red" }
  private struct Place: Encodable {
    var city = "Ely"
    private enum CodingKeys: String, CodingKey { case city = "City" }
  }
  private struct Town: Encodable {
    var type = "#S.Town"
    var size = "12.50"
    private enum CodingKeys: String, CodingKey { case type = "@odata.type", size = "Size" }
  }
  private struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }

  static let rows: [Row] = [
    Row("Boolean", true, "true"), Row("Boolean", 1, nil), Row("Boolean", "true", "true"),
    Row("Int32", 5, "5"), Row("Int32", UInt64(5), "5"), Row("Int32", 5.0, "5"), Row("Int32", 5.5, nil),
    Row("Int32", Int64.max, nil), Row("Int64", Int64.max, "9223372036854775807"), Row("Int64", UInt64.max, nil),
    Row("Decimal", Decimal(sign: .plus, exponent: -1, significand: 125), "12.5"), Row("Decimal", "12.50", "12.50"),
    Row("Decimal", 3, "3"),
    Row("Decimal", "a", nil), Row("Decimal", Decimal.nan, "\"NaN\""), Row("Double", Float(0.5), "0.5"),
    Row("Double", Double.infinity, "\"INF\""), Row("Decimal", Double.nan, "\"NaN\""),
    Row("String", "a", "\"a\""), Row("String", 5, nil),
    Row("String", URL(string: "http://h/a?b") ?? URL(filePath: "/"), "\"http://h/a?b\""),
    Row("DateTimeOffset", Date(timeIntervalSince1970: -0.5), "\"1969-12-31T23:59:59.5Z\""),
    Row("Second", Date(timeIntervalSince1970: 1.75), "\"1970-01-01T00:00:01Z\""),
    Row("Stamp", Date(timeIntervalSince1970: 1.75), "\"1970-01-01T00:00:01.7Z\""),
    Row("Second", Date(timeIntervalSince1970: -0.25), "\"1969-12-31T23:59:59Z\""),
    Row("Milliseconds", [Date(timeIntervalSince1970: 1.123456)], "[\"1970-01-01T00:00:01.123Z\"]"),
    // A value that has its digits is not shortened.
    Row("Second", ODataDateTimeOffset("1970-01-01T00:00:01.75Z"), "\"1970-01-01T00:00:01.75Z\""),
    Row("Date", Date(timeIntervalSince1970: 86400), "\"1970-01-02\""), Row("Date", Date(timeIntervalSince1970: 1), nil),
    Row("Date", "2026-02-29", nil), Row("TimeOfDay", Date(timeIntervalSince1970: 0), nil),
    Row("Duration", Duration.seconds(90), "\"PT1M30S\""), Row("Duration", "PT1M30S", "\"PT1M30S\""),
    Row("Int64", Duration.seconds(90), nil),
    Row(
      "Guid", UUID(uuid: (0x5e, 0x1f, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 6)),
      "\"5e1f0000-0000-4000-8000-000000000006\""),
    Row("Binary", Data([0xFB, 0xFF]), "\"-_8\""),
    Row("Color", Color.red, "\"Red\""), Row("Color", 1, "\"Red\""), Row("Color", 7, nil), Row("Color", Place(), nil),
    Row("Place", Place(), #"{"City":"Ely"}"#), Row("Place", ["City": "Ely"], #"{"City":"Ely"}"#),
    Row("Place", ["City": "Ely", "One@odata.bind": "All(1)"], nil), Row("One@odata.bind", String?.none, nil),
    Row("Place", Town(), ##"{"@odata.type":"#S.Town","Size":12.50}"##),
    Row("Place", Town(type: "#Self.Town"), ##"{"@odata.type":"#S.Town","Size":12.50}"##),
    Row("Place", Town(type: "#S.E"), nil), Row("Place", Town(type: "#S.Unknown"), nil),
    Row("Place", ["Ely"], nil), Row("Place", "Ely", nil), Row("String", Place(), nil), Row("String", ["a"], nil),
    Row("Texts", ["a", "b"], #"["a","b"]"#), Row("Texts", [String](), "[]"), Row("Texts", "a", nil),
    Row("Texts", [1], nil), Row("Texts", Place(), nil), Row("String", Nothing(), nil),
    Row("String", String?.none, "null"),
  ]

  @Test("a value is sent as the declared type, or is an error with its path", arguments: rows)
  func values(row: Row) async throws {
    let service = StubService({ _ in .status(204) }, metadata: Self.metadata)
    let folder = try TemporaryFolder()
    let root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
    let store = try OnlineODataStore(
      serviceRoot: root, transport: service, options: OnlineStoreOptions(path: folder.path))
    try await store.open()
    let one = One(name: row.name, value: row.value)
    if let json = row.json {
      try await store.create(one, in: "All")
      guard case .bytes(let bytes)? = service.requests.last?.body else { return #expect(Bool(false), "no content") }
      #expect(String(decoding: bytes, as: UTF8.self) == "{\"\(row.name)\":\(json)}")
    } else {
      let error = await #expect(throws: ODataServiceError.self) { try await store.create(one, in: "All") }
      guard case .invalidRequest? = error?.category else { throw try #require(error) }
      let name = row.name.prefix { $0 != "@" }
      #expect(error?.description.contains(name) == true, "\(String(describing: error))")
      #expect(service.requests.isEmpty)
    }
    try await store.close()
  }
}
