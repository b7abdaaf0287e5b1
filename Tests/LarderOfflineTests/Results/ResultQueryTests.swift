import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: queries from URL to bytes", .timeLimit(.minutes(1)))
struct ResultQueryTests {
  /// Two customers and three orders, in a store's own tables.
  private static func rig() async throws -> ReplicaRig {
    let rig = try await ReplicaRig(metadata: ResultModels.v4)
    try await rig.run(
      "INSERT INTO {Customers}(\"@id\", \"@type\", \"Name\", \"Rank\") VALUES(1, 0, 'a', 1), (2, 0, 'b', 2)")
    try await rig.run(
      "INSERT INTO {Orders}(\"@id\", \"@type\", \"ID\", \"Title\", \"Total\", \"BuyerID\", \"State\", \"Tags\") "
        + "VALUES(10, 0, 1, 'x', '1.50', 'a', 3, '[\"p\"]'), (11, 1, 2, 'y', '2', 'a', NULL, NULL), "
        + "(12, 0, 3, NULL, NULL, NULL, 4, '[]')")
    try await rig.run(
      "INSERT INTO {Orders/Items}(\"@id\", \"@type\", \"@parent\", \"Line\", \"Part\") "
        + "VALUES(20, 0, 10, 1, 'q'), (21, 0, 10, 2, 'r')")
    return rig
  }

  @Test(
    "Responses as a service would send them",
    arguments: [
      (
        "Customers?$select=Name&$expand=Orders($select=ID;$orderby=ID desc)&$orderby=Name",
        ##"{"@odata.context":"$metadata#Customers(Name,Orders(ID))","value":[{"Name":"a","Orders":["##
          + ##"{"@odata.type":"#Shop.Rush","ID":2},{"ID":1}]},{"Name":"b","Orders":[]}]}"##
      ),
      (
        "Orders(1)/Items?$select=Line,Part",
        ##"{"@odata.context":"$metadata#Orders(1)/Items(Line,Part)","value":[{"Line":1,"Part":"q"},{"Line":2,"Part":"r"}]}"##
      ),
      ("Orders(1)/Buyer?$select=Name", ##"{"@odata.context":"$metadata#Customers(Name)/$entity","Name":"a"}"##),
      ("Orders(1)/Total", ##"{"@odata.context":"$metadata#Orders(1)/Total","value":1.50}"##),
      ("Orders(1)/State/$value", "New,Paid"),
      ("Orders(1)/Tags", ##"{"@odata.context":"$metadata#Orders(1)/Tags","value":["p"]}"##),
      ("Orders(3)/Buyer", "null"), ("Orders(9)/Buyer", "nothing"), ("Orders(9)", "nothing"),
      ("Orders(3)/Title", "null"),
      (
        "Orders?$select=ID&$expand=Items/$count&$filter=ID le 2&$orderby=ID",
        ##"{"@odata.context":"$metadata#Orders(ID)","value":[{"ID":1,"Items@odata.count":2},"##
          + ##"{"@odata.type":"#Shop.Rush","ID":2,"Items@odata.count":0}]}"##
      ),
      (
        "Orders/Shop.Rush?$select=ID,Fee",
        ##"{"@odata.context":"$metadata#Orders/Shop.Rush(ID,Fee)","value":[{"ID":2,"Fee":null}]}"##
      ),
      (
        "Orders?$select=ID&$compute=ID add 1 as Next&$top=1&$count=true&$orderby=ID",
        ##"{"@odata.context":"$metadata#Orders(ID)","@odata.count":3,"value":[{"ID":1}]}"##
      ),
    ])
  func query(_ url: String, _ expected: String) async throws {
    let rig = try await ResultQueryTests.rig()
    let (text, end) = try await rig.replica.read { (snapshot) throws(StorageError) in
      Result {
        let bound = try ODataBinder(model: snapshot.plan.model).bind(try ODataParser(.v401).relativeURL(url), text: url)
        let read = try QueryWriter(plan: snapshot.plan, state: snapshot.state).plan(bound)
        let run = ResultRun(plan: read, url: bound, form: ResultForm(version: .v4), model: snapshot.plan.model)
        return try run.json(snapshot.connection)
      }
    }.get()
    switch end.outcome {
    case .content: #expect(String(decoding: text, as: UTF8.self) == expected)
    case .null: #expect(expected == "null")
    case .nothing: #expect(expected == "nothing")
    }
    try await rig.replica.close()
  }
}
