import Foundation
import LarderHTTP
import LarderTestSupport

/// A small service: departments and the staff in them, who have bosses. In V4 or in V2, whole or by pages of two rows.
struct EndToEndStaff: Sendable {
  var isV2 = false
  var isPaged = false
  /// Where responses to queries for staff wait, if anywhere.
  var gates: [String: ScriptedServer.Gate] = [:]
  /// The names of persons 1 to 5, read at each response.
  var names: @Sendable () -> [String] = { ["Ada", "Ben", "Cleo", "Dan", "Eve"] }

  private static let bosses = [1: "null", 2: "1", 3: "1", 4: "2", 5: "4"]

  func serve() throws -> ScriptedServer { try ScriptedServer { request in response(request) } }

  private func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let root = "http://\(request.fields["Host"] ?? "")/s/"
    let set = String(request.path.dropFirst("/s/".count))
    let rows: [String]
    switch set {
    case "$metadata":
      return .response(
        200, fields: [.contentType: "application/xml"], body: isV2 ? Self.metadataV2 : Self.metadata)
    case "Departments": rows = [(1, "Sales"), (2, "Law")].map { department($0, $1, root) }
    case "Staff": rows = names().enumerated().map { person($0.offset + 1, $0.element, root) }
    default: return .response(404, body: "{\"error\":{\"code\":\"404\",\"message\":\"no \(set)\"}}")
    }
    let pageResponse = page(rows, set, root, request.query ?? "")
    return gates[set].map { pageResponse.paused(by: $0) } ?? pageResponse
  }

  private func page(_ rows: [String], _ set: String, _ root: String, _ query: String) -> ScriptedServer.Response {
    let decoded = query.removingPercentEncoding ?? query
    let first =
      decoded.split(separator: "&").first { $0.hasPrefix("$skiptoken=") }
      .flatMap { Int($0.dropFirst("$skiptoken=".count)) } ?? 0
    let end = isPaged ? min(first + 2, rows.count) : rows.count
    let next = end < rows.count ? "\(root)\(set)?$skiptoken=\(end)" : nil
    let content = rows[min(first, end)..<end].joined(separator: ",")
    if isV2 {
      let link = next.map { ",\"__next\":\"\($0)\"" } ?? ""
      return .response(
        200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"],
        body: "{\"d\":{\"results\":[\(content)]\(link)}}")
    }
    let link = next.map { ",\"@odata.nextLink\":\"\($0)\"" } ?? ""
    return .response(
      200, fields: [.contentType: "application/json", .odataVersion: "4.0"],
      body: "{\"@odata.context\":\"\(root)$metadata#\(set)\",\"value\":[\(content)]\(link)}")
  }

  private func start(_ set: String, _ id: Int, _ type: String, _ root: String) -> String {
    isV2 ? "{\"__metadata\":{\"uri\":\"\(root)\(set)(\(id))\",\"type\":\"N.\(type)\"}," : "{"
  }

  private func department(_ id: Int, _ name: String, _ root: String) -> String {
    start("Departments", id, "Department", root) + "\"ID\":\(id),\"Name\":\"\(name)\"}"
  }

  private func person(_ id: Int, _ name: String, _ root: String) -> String {
    let boss = Self.bosses[id] ?? "null"
    // All were hired at one time.
    let hired = isV2 ? "\"/Date(1767225600000)/\"" : "\"2026-01-01T00:00:00Z\""
    let pay = isV2 ? "\"\(1000 * id).50\"" : "\(1000 * id).50"
    return start("Staff", id, "Person", root)
      + "\"ID\":\(id),\"Name\":\"\(name)\",\"Hired\":\(hired),\"Pay\":\(pay),\"BossID\":\(boss),"
      + "\"DepartmentID\":\(id % 2 + 1)}"
  }

  private static let properties = """
    <EntityType Name="Department"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    """
  private static func person(_ point: String) -> String {
    """
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    <Property Name="Hired" Type="\(point)"/><Property Name="Pay" Type="Edm.Decimal" Precision="10" Scale="2"/>
    <Property Name="BossID" Type="Edm.Int32"/><Property Name="DepartmentID" Type="Edm.Int32"/>
    """
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    \(properties)<NavigationProperty Name="Staff" Type="Collection(N.Person)" Partner="Department"/></EntityType>
    \(person("Edm.DateTimeOffset"))
    <NavigationProperty Name="Boss" Type="N.Person" Partner="Reports">
    <ReferentialConstraint Property="BossID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Reports" Type="Collection(N.Person)" Partner="Boss"/>
    <NavigationProperty Name="Department" Type="N.Department" Partner="Staff">
    <ReferentialConstraint Property="DepartmentID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Departments" EntityType="N.Department">
    <NavigationPropertyBinding Path="Staff" Target="Staff"/></EntitySet>
    <EntitySet Name="Staff" EntityType="N.Person"><NavigationPropertyBinding Path="Boss" Target="Staff"/>
    <NavigationPropertyBinding Path="Reports" Target="Staff"/>
    <NavigationPropertyBinding Path="Department" Target="Departments"/></EntitySet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  private static func association(_ name: String, _ from: String, _ to: String, _ property: String) -> String {
    """
    <Association Name="\(name)"><End Type="N.\(from)" Multiplicity="0..1" Role="One"/>
    <End Type="N.\(to)" Multiplicity="*" Role="Many"/><ReferentialConstraint>
    <Principal Role="One"><PropertyRef Name="ID"/></Principal>
    <Dependent Role="Many"><PropertyRef Name="\(property)"/></Dependent></ReferentialConstraint></Association>
    """
  }

  private static let metadataV2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    \(properties)
    <NavigationProperty Name="Staff" Relationship="N.Works" FromRole="One" ToRole="Many"/></EntityType>
    \(person("Edm.DateTime"))
    <NavigationProperty Name="Boss" Relationship="N.Leads" FromRole="Many" ToRole="One"/>
    <NavigationProperty Name="Reports" Relationship="N.Leads" FromRole="One" ToRole="Many"/>
    <NavigationProperty Name="Department" Relationship="N.Works" FromRole="Many" ToRole="One"/></EntityType>
    \(association("Works", "Department", "Person", "DepartmentID"))
    \(association("Leads", "Person", "Person", "BossID"))
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Departments" EntityType="N.Department"/>
    <EntitySet Name="Staff" EntityType="N.Person"/>
    <AssociationSet Name="WorksSet" Association="N.Works"><End EntitySet="Departments" Role="One"/>
    <End EntitySet="Staff" Role="Many"/></AssociationSet>
    <AssociationSet Name="LeadsSet" Association="N.Leads"><End EntitySet="Staff" Role="One"/>
    <End EntitySet="Staff" Role="Many"/></AssociationSet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}

/// A department as an application's type.
struct EndToEndDepartment: Decodable, Sendable, Hashable {
  var name: String
  var staff: [EndToEndPerson]?

  enum CodingKeys: String, CodingKey { case name = "Name", staff = "Staff" }
}

/// A person as an application's type.
struct EndToEndPerson: Decodable, Sendable, Hashable {
  var id: Int
  var name: String
  var pay: Decimal?
  var hired: Date?
  var reports: [EndToEndPerson]?
  var department: EndToEndDepartment?

  enum CodingKeys: String, CodingKey {
    case id = "ID", name = "Name", pay = "Pay", hired = "Hired", reports = "Reports", department = "Department"
  }
}
