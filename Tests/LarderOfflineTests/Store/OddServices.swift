import Foundation
import LarderHTTP
import LarderTestSupport

/// Small services of habits that are legal and unusual, each under `/s/`.
struct OddService: Sendable {
  let metadata: String
  /// Content by what is requested, `Path?query` without percent-encoding; what is not there is 404.
  let response: @Sendable (String, HTTPFields) -> ScriptedServer.Response?

  /// A server of it, below a path of the test's choice.
  func serve(below root: String = "/s/") throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.path.hasPrefix(root) else { return .response(404) }
      let path = request.path.dropFirst(root.count)
      let given = path + (request.query.map { "?" + $0 } ?? "")
      let decodedPath = given.removingPercentEncoding ?? String(given)
      if path == "$metadata", response(decodedPath, request.fields) == nil {
        return .response(200, fields: [.contentType: "application/xml"], body: metadata)
      }
      return response(decodedPath, request.fields) ?? .response(404)
    }
  }

  static func json(_ body: String, status: Int = 200) -> ScriptedServer.Response {
    .response(status, fields: [.contentType: "application/json", .odataVersion: "4.0"], body: body)
  }

  static func v4(_ types: String, _ sets: String) -> String {
    """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types)
    <EntityContainer Name="C">\(sets)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  /// Two sets of one type; a group expands its members, though that is not requested.
  static let unaskedExpansion = OddService(
    metadata: v4(
      """
      <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/></EntityType>
      <EntityType Name="Group"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Members" Type="Collection(N.Thing)"/></EntityType>
      """,
      """
      <EntitySet Name="Things" EntityType="N.Thing"/><EntitySet Name="Groups" EntityType="N.Group">
      <NavigationPropertyBinding Path="Members" Target="Things"/></EntitySet>
      """)
  ) { decodedPath, _ in
    switch decodedPath.prefix(while: { $0 != "?" }) {
    case "Things":
      json(##"{"@odata.context":"$metadata#Things","value":[{"ID":1,"Name":"one"},{"ID":2,"Name":"two"}]}"##)
    case "Groups":
      json(##"{"@odata.context":"$metadata#Groups","value":[{"ID":1,"Members":[{"ID":2,"Name":"two"}]},{"ID":2}]}"##)
    default: nil
    }
  }

  /// A service that takes no other option where changes are tracked, as Dynamics 365 does.
  static let trackingAlone = OddService(
    metadata: v4(
      """
      <EntityType Name="Account"><Key><PropertyRef Name="accountid"/></Key>
      <Property Name="accountid" Type="Edm.Guid" Nullable="false"/><Property Name="name" Type="Edm.String"/></EntityType>
      """, "<EntitySet Name=\"accounts\" EntityType=\"N.Account\"/>")
  ) { decodedPath, fields in
    let id = "00000000-0000-0000-0000-00000000000"
    let isTracked = fields[.prefer]?.contains("odata.track-changes") == true
    if isTracked, decodedPath.contains("$count") {
      return json(#"{"error":{"code":"0x8006088a","message":"Not with change tracking: $count"}}"#, status: 400)
    }
    if decodedPath.contains("$deltatoken") {
      return json(
        ##"{"@odata.context":"$metadata#accounts/$delta","@odata.deltaLink":"accounts?$deltatoken=2","value":["##
          + ##"{"@odata.etag":"W/\"2\"","accountid":"\##(id)1","name":"new"},"##
          + ##"{"@odata.context":"$metadata#accounts/$deletedEntity","id":"\##(id)2","reason":"deleted"}]}"##)
    }
    guard decodedPath.prefix(while: { $0 != "?" }) == "accounts" else { return nil }
    let link = isTracked ? #","@odata.deltaLink":"accounts?$deltatoken=1""# : ""
    return json(
      ##"{"@odata.context":"$metadata#accounts","value":[{"@odata.etag":"W/\"1\"","accountid":"\##(id)1","name":"a","##
        + ##""name@OData.Community.Display.V1.FormattedValue":"A"},{"accountid":"\##(id)2","name":"b"}]\##(link)}"##)
  }

  /// A service that responds only to a query option of its own, in links too.
  static let ownOption = OddService(
    metadata: v4(
      """
      <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      </EntityType>
      """, "<EntitySet Name=\"Rows\" EntityType=\"N.Row\"/>")
  ) { decodedPath, _ in
    guard decodedPath.contains("sap-client=100") else { return json("{}", status: 401) }
    switch decodedPath {
    case _ where decodedPath.hasPrefix("Rows?$deltatoken"):
      return json(##"{"value":[{"ID":3}],"@odata.deltaLink":"Rows?$deltatoken=2"}"##)
    case _ where decodedPath.hasPrefix("Rows?$skiptoken"):
      return json(##"{"value":[{"ID":2}],"@odata.deltaLink":"Rows?$deltatoken=1"}"##)
    case _ where decodedPath.hasPrefix("Rows?"):
      return json(##"{"value":[{"ID":1}],"@odata.nextLink":"Rows?$skiptoken=1"}"##)
    default: return nil
    }
  }

  /// A service that returns changes by a function, and takes no count of it, as Microsoft Graph does.
  static let changesFunction = OddService(
    metadata: v4(
      """
      <EntityType Name="User"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.String" Nullable="false"/>
      <Property Name="name" Type="Edm.String"/></EntityType>
      <Function Name="delta" IsBound="true"><Parameter Name="users" Type="Collection(N.User)"/>
      <ReturnType Type="Collection(N.User)"/></Function>
      """, "<EntitySet Name=\"users\" EntityType=\"N.User\"/>")
  ) { decodedPath, _ in
    guard decodedPath.hasPrefix("users/delta") || decodedPath.hasPrefix("users/N.delta()"),
      !decodedPath.contains("$count")
    else {
      return nil
    }
    if decodedPath.contains("$deltatoken") {
      return json(
        ##"{"@odata.context":"$metadata#users","@odata.deltaLink":"users/delta?$deltatoken=2","value":["##
          + ##"{"id":"a","name":"new"},{"id":"b","@removed":{"reason":"changed"}}]}"##)
    }
    if decodedPath.contains("$skiptoken") {
      return json(##"{"value":[{"id":"c"}],"@odata.deltaLink":"users/delta?$deltatoken=1"}"##)
    }
    return json(
      ##"{"@odata.context":"$metadata#users","value":[{"id":"a","name":"A"},{"id":"b"}],"##
        + ##""@odata.nextLink":"users/delta?$skiptoken=1"}"##)
  }
}
