import Foundation
import LarderHTTP
import LarderTestSupport

@testable import LarderOffline

/// Declared types with a value each, and the Swift types that the value can be decoded as; all others are mismatches.
struct DeclaredValue: Sendable {
  let type: String
  /// The value in a payload of V4 and of V2; nil if the version does not have the type.
  let v4: String?
  let v2: String?
  /// The decoded value, by the name of the Swift type.
  let fits: [String: String]

  init(_ type: String, _ v4: String?, v2: String?, _ fits: [String: String]) {
    (self.type, self.v4, self.v2, self.fits) = (type, v4, v2, fits)
  }

  static let integers = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
  ]

  /// Integers of all types but some, and the numbers that hold any integer.
  static func numbers(
    _ text: String, not excluded: [String] = [], real: String? = nil, decimal: String? = nil
  ) -> [String: String] {
    var all = Dictionary(uniqueKeysWithValues: integers.filter { !excluded.contains($0) }.map { ($0, text) })
    all["Double"] = real ?? text + ".0"
    all["Float"] = real ?? text + ".0"
    all["Decimal"] = decimal ?? text
    return all
  }

  static let small = ["Int8", "UInt8"]
  static let unsigned = ["UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128"]
  static let below64 = ["Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32"]

  // JSONDecoder decodes URL, UUID and (in Base64) Data from strings, and numbers only from numbers.
  static let table: [DeclaredValue] = [
    .init(
      "Edm.String", #""0000004712""#, v2: #""0000004712""#, ["String": "0000004712", "URL": "0000004712"]),
    .init("Edm.String", #""12.50""#, v2: #""12.50""#, ["String": "12.50", "URL": "12.50"]),
    .init("Edm.String", #""2026-01-15""#, v2: #""2026-01-15""#, ["String": "2026-01-15", "URL": "2026-01-15"]),
    .init("Edm.String", #""true""#, v2: #""true""#, ["String": "true", "URL": "true", "Data": "3 bytes"]),
    .init(
      "Edm.String", #""Paid""#, v2: #""Paid""#,
      ["String": "Paid", "URL": "Paid", "Data": "3 bytes", "Word": "paid"]),
    .init("Edm.String", #""PT1H""#, v2: #""PT1H""#, ["String": "PT1H", "URL": "PT1H", "Data": "3 bytes"]),
    .init(
      "Edm.String", #""11111111-2222-3333-4444-555555555555""#, v2: #""11111111-2222-3333-4444-555555555555""#,
      [
        "String": "11111111-2222-3333-4444-555555555555", "URL": "11111111-2222-3333-4444-555555555555",
        "UUID": "11111111-2222-3333-4444-555555555555",
      ]),
    .init(
      "Edm.Int32", "7", v2: "7", numbers("7").merging(["Number": "seven"]) { $1 }),
    .init("Edm.Int16", "300", v2: "300", numbers("300", not: small)),
    .init("Edm.SByte", "-1", v2: "-1", numbers("-1", not: unsigned)),
    .init("Edm.Byte", "200", v2: "200", numbers("200", not: ["Int8"])),
    .init(
      "Edm.Int64", "9007199254740993", v2: #""9007199254740993""#,
      numbers("9007199254740993", not: below64, real: "9007199254740992.0").merging(["Float": "9.007199e+15"]) {
        $1
      }),
    .init(
      "Edm.Decimal", "12.50", v2: #""12.50""#,
      ["Double": "12.5", "Float": "12.5", "Decimal": "12.5", "String": "12.50"]),
    .init(
      "Edm.Decimal", "12.00", v2: #""12.00""#,
      numbers("12").merging(["String": "12.00"]) { $1 }),
    .init("Edm.Double", "0.5", v2: "0.5", ["Double": "0.5", "Float": "0.5", "Decimal": "0.5"]),
    .init("Edm.Double", "3.0", v2: "3.0", numbers("3")),
    .init("Edm.Double", "1e300", v2: "1e300", ["Double": "1e+300"]),
    .init("Edm.Double", #""INF""#, v2: #""INF""#, ["Double": "inf", "Float": "inf"]),
    .init("Edm.Single", #""NaN""#, v2: #""NaN""#, ["Double": "nan", "Float": "nan"]),
    .init("Edm.Boolean", "true", v2: "true", ["Bool": "true"]),
    .init(
      "Edm.DateTimeOffset", #""2026-01-15T00:00:00Z""#, v2: #""/Date(1768435200000+0000)/""#,
      ["Date": "1768435200.0", "String": "2026-01-15T00:00:00Z"]),
    .init("Edm.Date", #""2026-01-15""#, v2: nil, ["Date": "1768435200.0", "String": "2026-01-15"]),
    .init(
      "Edm.DateTime", nil, v2: #""/Date(1768435200000)/""#,
      ["Date": "1768435200.0", "String": "2026-01-15T00:00:00"]),
    .init("Edm.TimeOfDay", #""10:00:00""#, v2: nil, ["String": "10:00:00"]),
    .init("Edm.Duration", #""PT1H""#, v2: nil, ["Duration": "3600.0 seconds", "String": "PT1H"]),
    .init("Edm.Time", nil, v2: #""PT1H""#, ["Duration": "3600.0 seconds", "String": "PT1H"]),
    .init(
      "Edm.Guid", #""aaaaaaaa-2222-3333-4444-555555555555""#, v2: #""aaaaaaaa-2222-3333-4444-555555555555""#,
      ["UUID": "AAAAAAAA-2222-3333-4444-555555555555", "String": "aaaaaaaa-2222-3333-4444-555555555555"]),
    .init("Edm.Binary", #""-_8=""#, v2: #""+/8=""#, ["Data": "2 bytes"]),
    .init(
      "S.State", #""Paid""#, v2: nil,
      [
        "Word": "paid", "String": "Paid", "Number": "two", "Int": "2", "Int8": "2", "Int16": "2", "Int32": "2",
        "Int64": "2", "Int128": "2", "UInt": "2", "UInt8": "2", "UInt16": "2", "UInt32": "2", "UInt64": "2",
        "UInt128": "2",
      ]),
  ]
}

/// A service with an entity set for each value of the table: `S0`, `S1` … with one entity that has the value as a property,
/// in a complex property, and (V4) in collections.
struct StrictService: Sendable {
  let isV2: Bool
  /// The table's rows that the version has, with the numbers of their sets.
  let rows: [(number: Int, value: DeclaredValue, text: String)]

  init(isV2: Bool) {
    self.isV2 = isV2
    rows = DeclaredValue.table.enumerated().compactMap { number, value in
      (isV2 ? value.v2 : value.v4).map { (number, value, $0) }
    }
  }

  private var metadata: String {
    let types = rows.map { number, value, _ in
      let more =
        isV2
        ? ""
        : "<Property Name=\"Values\" Type=\"Collection(\(value.type))\"/>"
          + "<Property Name=\"Inners\" Type=\"Collection(S.C\(number))\"/>"
      return """
        <ComplexType Name="C\(number)"><Property Name="Value" Type="\(value.type)"/></ComplexType>
        <EntityType Name="T\(number)" OpenType="\(isV2 ? "false" : "true")"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Value" Type="\(value.type)"/>
        <Property Name="Inner" Type="S.C\(number)"/>\(more)</EntityType>
        """
    }
    let sets = rows.map { "<EntitySet Name=\"S\($0.number)\" EntityType=\"S.T\($0.number)\"/>" }
    let container = "<EntityContainer Name=\"C\">\(sets.joined())</EntityContainer>"
    if isV2 {
      return """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
         xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <edmx:DataServices m:DataServiceVersion="2.0"><Schema Namespace="S"
         xmlns="http://schemas.microsoft.com/ado/2008/09/edm">\(types.joined())\(container)</Schema></edmx:DataServices>
        </edmx:Edmx>
        """.replacing("OpenType=\"false\"", with: "")
    }
    return """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
      <EnumType Name="State"><Member Name="New" Value="1"/><Member Name="Paid" Value="2"/></EnumType>
      \(types.joined())\(container)</Schema></edmx:DataServices></edmx:Edmx>
      """
  }

  private func body(_ set: String) -> String? {
    guard let row = rows.first(where: { "S\($0.number)" == set }) else { return nil }
    let type = row.value.type.hasPrefix("Edm.") ? String(row.value.type.dropFirst(4)) : row.value.type
    let v4 =
      "\"Values\":[\(row.text)],\"Inners\":[{\"Value\":\(row.text)}],"
      + "\"Open@odata.type\":\"#\(type)\",\"Open\":\(row.text)"
    let entity = #"{"ID":1,"Value":\#(row.text),"Inner":{"Value":\#(row.text)}\#(isV2 ? "" : "," + v4)}"#
    return isV2 ? #"{"d":{"results":[\#(entity)]}}"# : #"{"@odata.context":"$metadata#\#(set)","value":[\#(entity)]}"#
  }

  func serve() throws -> ScriptedServer {
    try ScriptedServer { request in
      let name = String(request.path.dropFirst("/s/".count))
      if name == "$metadata" {
        return .response(200, fields: [.contentType: "application/xml"], body: metadata)
      }
      guard let body = body(name) else { return .response(404) }
      var fields: HTTPFields = [.contentType: "application/json"]
      if isV2 { fields[.dataServiceVersion] = "2.0" } else { fields[.odataVersion] = "4.0" }
      return .response(200, fields: fields, body: body)
    }
  }

  /// A store with a complete copy.
  func copied() async throws -> (store: OfflineODataProvider, rig: StoreRig) {
    let server = try serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    for row in rows { try await store.add(OfflineODataDefiningQuery("q\(row.number)", "S\(row.number)")) }
    try await store.open()
    return (store, rig)
  }
}
