import LarderHTTP
import LarderOData
import LarderTesting
import Testing

@Suite("Test service: changes", .timeLimit(.minutes(2)))
struct ServiceChangeTests {
  @Test("POST creates an entity with those inside it, gives it a key, and returns it")
  func create() async throws {
    let service = try Shop.service()
    let created = try await service.send(
      .post, "Orders", #"{"Note":"bread","Items":[{"ID":20,"Text":"c"}],"Parts":[{"Pos":7}],"Main":{"Name":"top"}}"#)
    #expect(created.status == 201, "\(created.text)")
    #expect(created.fields[.location] == "https://service.test/Orders(3)")
    #expect(created.fields[.etag] == created.node["@odata.etag"]?.string && created.fields[.etag] != nil)
    #expect(created.node["Items"]?.items?.first?["Order_ID"] == .number("3"))
    #expect(created.node["Main"]?["Name"] == .string("top"))
    #expect(service["Orders(3)/Parts(7)"] == ["Pos": 7, "Text": nil])
    #expect(try await service.get("Orders(3)/Items").texts("ID") == ["20"])
    #expect(try await service.get("Orders(3)/Main").node["Name"]?.string == "top")
    let quiet = try await service.send(.post, "Orders(3)/Items", #"{"Text":"d"}"#, ["Prefer": "return=minimal"])
    #expect(quiet.status == 204 && quiet.fields["OData-EntityId"] == "https://service.test/Items(21)")
    #expect(service["Items(21)"]?["Order_ID"] == 3)
    #expect(try await service.send(.post, "Orders", #"{"ID":1}"#).status == 409)
    let bound = try await service.send(.post, "Items", #"{"ID":30,"Order@odata.bind":"Orders(1)"}"#)
    #expect(bound.status == 201 && service["Items(30)"]?["Order_ID"] == 1)
  }

  @Test("PATCH merges, PUT replaces, DELETE deletes with what the model deletes along")
  func change() async throws {
    let service = try Shop.service()
    let patched = try await service.send(.patch, "Orders(1)", #"{"Note":"new","Address":{"Zip":"1"}}"#)
    #expect(patched.status == 204 && patched.fields[.etag] != nil)
    let order = try #require(service["Orders(1)"])
    #expect(
      order["Note"] == "new" && order["Price"] == 2.5 && order["Address"]?.object == ["City": "Rome", "Zip": "1"])
    let put = try await service.send(.put, "Orders(1)", #"{"Note":"all"}"#, ["Prefer": "return=representation"])
    #expect(put.status == 200 && put.node["Note"]?.string == "all" && put.node["Price"] == .null)
    #expect(try await service.send(.delete, "Orders(2)").status == 204)
    #expect(service["Orders(2)"] == nil && service.rows("Items").isEmpty)
    #expect(try await service.get("Orders").texts("ID") == ["1"])
    #expect(try await service.send(.patch, "Setting", #"{"Theme":"light"}"#).status == 204)
    #expect(try await service.get("Setting").node["Theme"]?.string == "light")
  }

  @Test("Conditions: an old ETag gets 412, a missing one 428 if the service requires it")
  func conditions() async throws {
    let service = try Shop.service()
    let etag = try #require(try await service.get("Orders(1)").fields[.etag])
    try service.change("Orders(1)", ["Note": "theirs"])
    let old = try await service.send(.patch, "Orders(1)", #"{"Note":"mine"}"#, ["If-Match": etag])
    #expect(old.status == 412 && old.message.contains("Orders(1)"))
    #expect(try await service.send(.delete, "Orders(1)", "", ["If-Match": etag]).status == 412)
    let current = try #require(try await service.get("Orders(1)").fields[.etag])
    #expect(try await service.send(.patch, "Orders(1)", "{}", ["If-Match": "\"x\", \(current)"]).status == 204)
    service.requiresETags = true
    #expect(try await service.send(.delete, "Orders(1)").status == 428)
    #expect(service["Orders(1)"]?["Note"] == "theirs")
    #expect(try await service.send(.delete, "Orders(1)", "", ["If-Match": "*"]).status == 204)
  }

  @Test("Links are added, replaced and removed, from both sides")
  func links() async throws {
    let service = try Shop.service()
    let tag = #"{"@odata.id":"https://service.test/Tags('it''s%2Fold')"}"#
    let added = try await service.send(.post, "Orders(1)/Tags/$ref", tag)
    #expect(added.status == 204, "\(added.text)")
    #expect(try await service.get("Orders(1)/Tags?$orderby=Name").texts("Name") == ["it's/old", "new"])
    #expect(try await service.get("Tags('it''s%2Fold')/Orders").texts("ID") == ["1"])
    #expect(try await service.send(.delete, "Orders(1)/Tags('new')/$ref").status == 204)
    #expect(try await service.send(.delete, "Tags('it''s%2Fold')/Orders/$ref?$id=Orders(1)").status == 204)
    #expect(try await service.get("Orders(1)/Tags").texts("Name").isEmpty)
    #expect(try await service.send(.put, "Orders(1)/Main/$ref", tag).status == 204)
    #expect(try await service.get("Orders(1)/Main").node["Name"]?.string == "it's/old")
    #expect(try await service.send(.put, "Items(10)/Order/$ref", #"{"@odata.id":"Orders(1)"}"#).status == 204)
    #expect(service["Items(10)"]?["Order_ID"] == 1)
    #expect(try await service.send(.delete, "Items(10)/Order/$ref").status == 204)
    #expect(service["Items(10)"]?["Order_ID"] == nil as ODataTestValue)
    try service.delete("Tags('it''s/old')")
    #expect(try await service.get("Orders(1)/Main").status == 204)
  }

  @Test("PATCH with null removes a link, and with references replaces those of a collection")
  func linksInContent() async throws {
    let service = try Shop.service()
    func patch(_ path: String, _ body: String) async throws -> Int { try await service.send(.patch, path, body).status }
    #expect(try await patch("Orders(1)", #"{"Main@odata.bind":"Tags('new')"}"#) == 204)
    #expect(try await patch("Orders(1)", #"{"Note":"x"}"#) == 204)
    #expect(try await service.get("Orders(1)/Main").node["Name"]?.string == "new")
    #expect(try await patch("Orders(1)", #"{"Main":null}"#) == 204)
    #expect(try await service.get("Orders(1)/Main").status == 204)
    #expect(try await patch("Items(10)", #"{"Order@odata.bind":"Orders(1)"}"#) == 204)
    #expect(service["Items(10)"]?["Order_ID"] == 1)
    #expect(try await patch("Items(10)", #"{"Order@odata.bind":null}"#) == 204)
    #expect(service["Items(10)"]?["Order_ID"] == nil as ODataTestValue)
    #expect(try await patch("Orders(1)", #"{"Tags":[{"@odata.id":"Tags('it''s%2Fold')"}]}"#) == 204)
    #expect(try await service.get("Orders(1)/Tags").texts("Name") == ["it's/old"])
    #expect(try await patch("Orders(1)", #"{"Tags@odata.bind":["Tags('new')"]}"#) == 204)
    #expect(try await service.get("Orders(1)/Tags?$orderby=Name").texts("Name") == ["it's/old", "new"])
    #expect(try await patch("Orders(1)", #"{"Tags":[]}"#) == 204)
    #expect(try await service.get("Orders(1)/Tags").texts("Name").isEmpty)
    #expect(try await patch("Orders(1)", #"{"Tags":null}"#) == 400)
  }

  @Test("Query options of changes get 501, and are named", arguments: ["4.0", "4.01"])
  func options(_ version: String) async throws {
    let service = try Shop.service(version)
    for (method, path) in [(HTTPMethod.post, "Orders"), (.patch, "Orders(1)"), (.put, "Orders(1)")] {
      let options = [
        "$select=ID", "$expand=Items", "%24select=ID", "$levels=1", "$index=0", "$skiptoken=1", "$id=Orders(1)",
      ]
      let shortNames = version == "4.01" ? ["expand=Items", "Index=0"] : []
      for option in options + shortNames + ["$format=xml", "$schemaversion=2", "$nothing=1"] {
        let response = try await service.send(method, "\(path)?\(option)", "{}")
        #expect(response.status == 501 && response.message.contains("query option"), "\(response.text)")
      }
      #expect(try await service.send(method, "\(path)?sap-client=1&$format=json", "{}").status < 300)
    }
    #expect(service.rows("Orders").count == 3)
  }

  @Test("If-None-Match: a change of an entity that exists gets 412; PUT and PATCH create none")
  func upserts() async throws {
    let service = try Shop.service()
    for method in [HTTPMethod.patch, .put] {
      #expect(try await service.send(method, "Orders(1)", "{}", ["If-None-Match": "*"]).status == 412)
      let new = try await service.send(method, "Orders(7)", "{}", ["If-None-Match": "*"])
      #expect(new.status == 501 && new.message.contains("upsert"))
      let missing = try await service.send(method, "Orders(7)", "{}")
      #expect(missing.status == 404 && missing.message.contains("does not create entities"))
    }
    #expect(service["Orders(1)"]?["Note"] == "tea" && service.rows("Orders").count == 2)
  }

  @Test("A singleton is deleted only if it may be null, and can be created later", arguments: [true, false])
  func singletons(_ isNullable: Bool) async throws {
    let metadata = Shop.metadata.replacing(
      "<Singleton Name=\"Setting\"", with: "<Singleton Name=\"Setting\" Nullable=\"\(isNullable)\"")
    let service = try ODataTestService(metadata: metadata, rows: Shop.rows)
    let response = try await service.send(.delete, "Setting")
    #expect(response.status == (isNullable ? 204 : 405), "\(response.text)")
    #expect(try await service.get("Setting").status == (isNullable ? 204 : 200))
    #expect(try await service.get("Orders").status == 200)
    let later = try ODataTestService(metadata: metadata)
    #expect(try await later.get("Setting").status == (isNullable ? 204 : 404))
    try later.insert("Setting", ["Theme": "dark"])
    #expect(try await later.get("Setting").node["Theme"]?.string == "dark")
  }

  @Test("Derived types have their own properties and links")
  func derivedTypes() async throws {
    let service = try Shop.service()
    let created = try await service.send(
      .post, "Orders", ##"{"@odata.type":"#Shop.Rush","ID":8,"Hours":2,"Helper@odata.bind":"Tags('new')"}"##)
    #expect(created.status == 201 && created.node["@odata.type"]?.string == "#Shop.Rush", "\(created.text)")
    let rushes = try await service.get("Orders/Shop.Rush?$expand=Helper")
    #expect(rushes.texts("Hours") == ["2"], "\(rushes.text)")
    #expect(rushes.node["value"]?.items?.first?["Helper"]?["Name"]?.string == "new")
    let all = try await service.get("Orders?$filter=Shop.Rush/Hours eq 2 and Shop.Rush/Helper/Name eq 'new'")
    #expect(all.texts("ID") == ["8"] && all.node["value"]?.items?.first?["@odata.type"] != nil, "\(all.text)")
    #expect(try await service.send(.post, "Orders/Shop.Rush", #"{"ID":9,"Hours":4}"#).status == 201)
    #expect(try await service.get("Orders(9)").node["@odata.type"]?.string == "#Shop.Rush")
    #expect(try await service.get("Orders/Shop.Rush").texts("Hours") == ["2", "4"])
    #expect(try await service.send(.post, "Tags('new')/Orders/Shop.Rush", #"{"ID":10,"Hours":5}"#).status == 201)
    #expect(try await service.get("Tags('new')/Orders/Shop.Rush").texts("Hours") == ["5"])
    #expect(try await service.send(.patch, "Orders/Shop.Rush(9)", #"{"Hours":6}"#).status == 204)
    #expect(try await service.send(.patch, "Orders/Shop.Rush(1)", "{}").status == 404)
    for id in [9, 10] { try service.delete("Orders(\(id))") }
    #expect(try await service.send(.patch, "Orders(8)/Shop.Rush", #"{"Hours":3}"#).status == 204)
    #expect(service["Orders(8)"]?["Hours"] == 3)
    #expect(try await service.send(.patch, "Orders(1)/Shop.Rush", #"{"Hours":3}"#).status == 404)
    #expect(try await service.send(.patch, "Orders(1)", #"{"Hours":3}"#).status == 400)
  }

  @Test("Contained entities can contain others")
  func containment() async throws {
    let service = try Shop.service()
    #expect(try await service.send(.post, "Orders(2)/Parts(1)/Screws", #"{"No":5}"#).status == 201)
    let parts = try await service.get("Orders(2)?$expand=Parts($expand=Screws)")
    #expect(parts.node["Parts"]?.items?.first?["Screws"]?.items?.first?["No"] == .number("5"), "\(parts.text)")
    #expect(try await service.get("Orders(2)/Parts(1)/Screws(5)").fields[.etag] != nil)
    #expect(try await service.send(.delete, "Orders(2)/Parts(1)/Screws(5)").status == 204)
    #expect(try await service.get("Orders(2)/Parts(1)/Screws").texts("No").isEmpty)
    #expect(try await service.send(.delete, "Orders(2)/Parts(1)").status == 204)
    #expect(try await service.get("Orders(2)/Parts").texts("Pos").isEmpty)
  }

  @Test("A type cast on a containment property says which type a new entity has")
  func containedDerivedTypes() async throws {
    let service = try Shop.service()
    let gear = try await service.send(.post, "Orders(2)/Parts/Shop.Gear", #"{"Pos":3,"Teeth":8}"#)
    #expect(gear.status == 201 && gear.node["@odata.type"]?.string == "#Shop.Gear", "\(gear.text)")
    #expect(try await service.get("Orders(2)/Parts/Shop.Gear").texts("Teeth") == ["8"])
    #expect(try await service.send(.patch, "Orders(2)/Parts(3)/Shop.Gear", #"{"Teeth":9}"#).status == 204)
    #expect(try await service.send(.patch, "Orders(2)/Parts/Shop.Gear(1)", "{}").status == 404)
    for method in [HTTPMethod.put, .patch] {
      let path = "Orders(\(method == .put ? 1 : 2))/Case"
      let other = try await service.send(method, "\(path)/Shop.Gear", ##"{"@odata.type":"#Shop.Part","Pos":1}"##)
      #expect(other.status == 400, "\(other.text)")
      #expect(try await service.get("\(path)").status == 204)
      let created = try await service.send(method, "\(path)/Shop.Gear", #"{"Pos":1,"Teeth":5}"#)
      #expect(created.status == 201 && created.node["@odata.type"]?.string == "#Shop.Gear", "\(created.text)")
      #expect(try await service.get("\(path)/Shop.Gear").node["Teeth"] == .number("5"))
    }
  }

  @Test("The URL of an entity that a derived type contains has the type")
  func containedInDerivedType() async throws {
    let service = try Shop.service()
    try service.insert("Orders", ["@odata.type": "#Shop.Rush", "ID": 8])
    let stop = try await service.send(.post, "Orders(8)/Shop.Rush/Stops", #"{"Pos":1}"#)
    #expect(stop.status == 201, "\(stop.text)")
    let location = try #require(stop.fields[.location])
    #expect(location == "https://service.test/Orders(8)/Shop.Rush/Stops(1)")
    #expect(stop.node["@odata.context"]?.string == "https://service.test/$metadata#Orders(8)/Shop.Rush/Stops/$entity")
    let screw = try await service.send(.post, "Orders(8)/Shop.Rush/Stops(1)/Screws", #"{"No":4}"#)
    #expect(screw.fields[.location] == location + "/Screws(4)", "\(screw.text)")
    #expect(try await service.get("Orders(8)/Shop.Rush/Stops(1)").node["Pos"] == .number("1"))
    #expect(service["Orders(8)/Shop.Rush/Stops(1)"]?["Pos"] == 1)
    #expect(try await service.send(.delete, "Orders(8)/Shop.Rush/Stops(1)").status == 204)
    #expect(try await service.get("Orders(8)/Shop.Rush/Stops").texts("Pos").isEmpty)
  }

  @Test(
    "What the service does not support gets 501 and is named; a route for it helps",
    arguments: [
      ("POST", "Archive", "Archive"), ("PUT", "Orders(1)/Note", "Note"), ("PUT", "Orders(1)/Note/$value", "Note"),
    ])
  func unsupported(_ method: String, _ path: String, _ name: String) async throws {
    let service = try Shop.service()
    let response = try await service.send(HTTPMethod(rawValue: method), path, #"{"value":1}"#)
    #expect(response.status == 501 && response.message.contains(name), "\(response.text)")
    service.transport.route("\(method) \(path)", "done")
    #expect(try await service.send(HTTPMethod(rawValue: method), path, "{}").text == "done")
  }

  @Test(
    "Content that does not fit is rejected, and changes nothing",
    arguments: [
      #"{"Nothing":1}"#, #"{"Note":7}"#, #"{"Count":null}"#, "[", #"{"Color":"Green"}"#, #"{"Words":"a"}"#,
    ])
  func invalid(_ body: String) async throws {
    let service = try Shop.service()
    let before = service["Orders(1)"]
    #expect(try await service.send(.patch, "Orders(1)", body).status == 400)
    #expect(service["Orders(1)"] == before)
    #expect(try await service.send(.patch, "Orders(1)", #"{"Items":[{"ID":1}]}"#).status == 501)
    #expect(try await service.send(.patch, "Orders", "{}").status == 405)
  }

  @Test("A change set of a batch is carried out as a whole or not at all, and refers to what it created")
  func batches() async throws {
    let service = try Shop.service()
    func changeSet(_ second: String) -> String {
      """
      --b\r
      Content-Type: multipart/mixed; boundary=c\r
      \r
      --c\r
      Content-Type: application/http\r
      Content-Transfer-Encoding: binary\r
      Content-ID: 1\r
      \r
      POST Orders HTTP/1.1\r
      Content-Type: application/json\r
      \r
      {"ID":5}\r
      --c\r
      Content-Type: application/http\r
      Content-Transfer-Encoding: binary\r
      Content-ID: 2\r
      \r
      POST \(second) HTTP/1.1\r
      Content-Type: application/json\r
      \r
      {"ID":50}\r
      --c--\r
      --b\r
      Content-Type: application/http\r
      Content-Transfer-Encoding: binary\r
      \r
      GET /Orders/$count HTTP/1.1\r
      \r
      \r
      --b--\r

      """
    }
    let type: HTTPFields = [.contentType: "multipart/mixed; boundary=b"]
    let failed = try await service.send(.post, "$batch", changeSet("Nothing"), type)
    #expect(
      failed.status == 200 && failed.text.contains("HTTP/1.1 404") && !failed.text.contains("HTTP/1.1 200"),
      "\(failed.text)")
    #expect(service["Orders(5)"] == nil)
    let done = try await service.send(.post, "$batch", changeSet("$1/Items"), type)
    #expect(done.text.contains("HTTP/1.1 201") && done.text.hasSuffix("\r\n3\r\n--larder-batch--\r\n"), "\(done.text)")
    #expect(service["Items(50)"]?["Order_ID"] == 5)
    #expect(service.requests.suffix(4) == ["POST $batch", "POST Orders", "POST $1/Items", "GET Orders/$count"])
  }

  @Test("A batch in JSON")
  func jsonBatch() async throws {
    let service = try Shop.service()
    let response = try await service.send(
      .post, "$batch",
      #"""
      {"requests":[{"id":"a","method":"patch","url":"Orders(1)","headers":{"content-type":"application/json"},"body":{"Note":"j"}},
      {"id":"b","method":"get","url":"Orders(9)"},{"id":"c","method":"get","url":"Orders(1)"},
      {"id":"d","method":"post","url":"Orders","headers":{"content-type":"application/json"},"body":{"ID":6}},
      {"id":"e","method":"patch","url":"$d","dependsOn":["d"],"headers":{"content-type":"application/json"},"body":{"Note":"r"}},
      {"id":"f","method":"get","url":"$d","dependsOn":["d"]},{"id":"g","method":"get","url":"Orders(1)","dependsOn":["b"]}]}
      """#, ["Prefer": "continue-on-error"])
    let statuses = response.node["responses"]?.items?.map { $0["status"]?.text ?? "" }
    #expect(statuses == ["204", "404", "200", "201", "204", "200", "424"], "\(response.text)")
    let notes = response.node["responses"]?.items?.compactMap { $0["body"]?["Note"]?.string }
    #expect(notes == ["j", "r"])
    #expect(service["Orders(6)"]?["Note"] == "r")
  }

  @Test("A part of a batch whose URL is none gets 400; the other parts are carried out", arguments: [true, false])
  func badURL(_ isGroup: Bool) async throws {
    let service = try Shop.service()
    func patch(_ id: String, _ path: String, _ more: String = "") -> String {
      #"{"id":"\#(id)","method":"patch","url":"\#(path)","headers":{"content-type":"application/json"},"body":{"Note":"\#(id)"}\#(more)}"#
    }
    let group = isGroup ? #","atomicityGroup":"g""# : ""
    let requests = [
      patch("a", "Orders(1)"), patch("b", "Orders(2)", group), patch("c", "http://[/Orders(2)", group),
      patch("d", "Orders(1)"),
    ]
    let response = try await service.send(
      .post, "$batch", #"{"requests":[\#(requests.joined(separator: ","))]}"#, ["Prefer": "continue-on-error"])
    #expect(response.status == 200, "\(response.text)")
    let responses = response.node["responses"]?.items ?? []
    #expect(responses.map { $0["status"]?.text ?? "" } == ["204", isGroup ? "424" : "204", "400", "204"])
    #expect(responses.dropFirst(2).first?["body"]?["error"]?["message"]?.string?.contains("is not a URL") == true)
    #expect(service["Orders(1)"]?["Note"] == "d" && service["Orders(2)"]?["Note"] == (isGroup ? "milk" : "b"))
  }

  @Test("Each request of a failed group has its response, and a request that depends on the group fails")
  func failedGroup() async throws {
    let service = try Shop.service()
    func request(_ id: String, _ path: String, _ more: String) -> String {
      #"{"id":"\#(id)","method":"patch","url":"\#(path)","headers":{"content-type":"application/json"},"body":{"Note":"j"}\#(more)}"#
    }
    let group = #","atomicityGroup":"g""#
    let requests = [
      request("a", "Orders(1)", group), request("b", "Orders(9)", group), request("c", "Orders(2)", group),
      request("d", "Orders(2)", #","dependsOn":["g"]"#), request("e", "Orders(2)", #","atomicityGroup":"h""#),
    ]
    let response = try await service.send(
      .post, "$batch", #"{"requests":[\#(requests.joined(separator: ","))]}"#, ["Prefer": "continue-on-error"])
    let responses = response.node["responses"]?.items ?? []
    let ids = responses.map { $0["id"]?.string ?? "" }
    #expect(ids == ["a", "b", "c", "d", "e"], "\(response.text)")
    #expect(responses.map { $0["status"]?.text ?? "" } == ["424", "404", "424", "424", "204"])
    #expect(responses.map { $0["atomicityGroup"]?.string ?? "" } == ["g", "g", "g", "", "h"])
    #expect(service.rows("Orders").map { $0["Note"] } == ["tea", "j"])
  }
}
