import Foundation
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// A type as the generator writes it, for the service below.
struct Book: ODataTracked, ODataCreatable, ODataBaseType, Codable, Hashable, Sendable {
  static let odataTypeName = "S.Book"
  static let odataSelection = ["ID", "Title"]
  let id: Int
  var title: String? { didSet { odataState.assign(0) } }
  let chapters: [Book]?
  var odataState = ODataEntityState()
  var odataDerived: ODataDerivedValue? { nil }

  struct Key: ODataSingleKey {
    let id: Int
    init(_ value: Int) { id = value }
    var odataParts: [(name: String, value: any ODataPrimitive)] { [("ID", id)] }
    private enum CodingKeys: String, CodingKey { case id = "ID" }
  }
  var odataKey: Key { Key(id) }

  private enum CodingKeys: String, CodingKey {
    case id = "ID"
    case title = "Title"
    case chapters = "Chapters"
    case odataState = "@odata.etag"
  }

  var odataChanges: [ODataProperty] {
    var list = ODataPropertyList()
    list.setIfAssigned(0, "Title", title, in: odataState)
    return list.properties
  }

  struct Fields: ODataFields {
    var id: Field<Int> { .init("ID") }
    var title: Field<String> { .init("Title") }
    var chapters: NavigationCollection<Book> { .init("Chapters") }
    var author: Navigation<Book> { .init("Author") }
  }

  struct Change: ODataChange {
    var title: String?
    var odataProperties: [ODataProperty] {
      var list = ODataPropertyList()
      list.set("Title", title)
      return list.properties
    }
  }
  typealias Create = Change
  typealias Update = Change
}

@Suite("Online, typed reads and changes", .timeLimit(.minutes(2)))
struct TypedReadingTests {
  private static let properties = """
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"/>\
    <Property Name="Title" Type="Edm.String"/>
    """
  private static let container = "<EntityContainer Name=\"C\"><EntitySet Name=\"Books\" EntityType=\"S.Book\""

  private static func metadata(_ version: ODataVersion) -> StubService.Response {
    if version >= .v4 {
      return .ok(
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
        <Schema Namespace="S" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Book">\(properties)\
        <NavigationProperty Name="Chapters" Type="Collection(S.Book)"/>\
        <NavigationProperty Name="Author" Type="S.Book"/></EntityType>\(container)/></EntityContainer>\
        </Schema></edmx:DataServices></edmx:Edmx>
        """, ["Content-Type": "application/xml", "OData-Version": "4.0"])
    }
    let imported = "<FunctionImport Name=\"Find\" ReturnType=\"Collection(S.Book)\" EntitySet=\"Books\"/>"
    return .ok(
      """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices \
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">\
      <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="Book">\(properties)\
      </EntityType>\(container)/>\(imported)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """, ["Content-Type": "application/xml", "DataServiceVersion": "2.0"])
  }

  /// Runs a test with the books of a service that responds by path and query.
  func withBooks(
    _ version: ODataVersion = .v4, useCache: Bool = false,
    response: @escaping @Sendable (HTTPRequest, _ path: String) -> StubService.Response,
    _ body: (ODataEntitySet<Book>, StubService, OnlineODataStore) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
    let service = StubService(
      { request in
        let text = request.url.absoluteString
        var result = response(request, String(text.dropFirst(root.absoluteString.count)))
        if version < .v4 { result.fields = ["Content-Type": "application/json", "DataServiceVersion": "2.0"] }
        return result
      }, metadata: Self.metadata(version))
    var options = OnlineStoreOptions(useCache: useCache, path: folder.path)
    options.conversation.retry = .never
    let store = try OnlineODataStore(serviceRoot: root, transport: service, options: options)
    try await store.open()
    try await body(ODataEntitySet(store, ODataQuery("Books")), service, store)
    try await store.close()
  }

  func sent(_ service: StubService) -> [String] {
    service.requests.map { request in
      let url = request.url.absoluteString
      let path = url.range(of: "/service/").map { String(url[$0.upperBound...]) } ?? url
      return "\(request.method.rawValue) \(path)"
    }
  }

  // OData Protocol 4.01 §11.2.6.7: also the related entities of an expansion may come in pages.
  private static let pages = [
    "Books?$expand=Chapters": """
    {"value":[{"ID":1,"Chapters":[{"ID":10}],"Chapters@odata.nextLink":"Books(1)/Chapters?$skiptoken=1"}],
     "@odata.nextLink":"Books?$expand=Chapters&$skiptoken=1"}
    """,
    "Books(1)/Chapters?$skiptoken=1": """
    {"@odata.context":"../$metadata#Books","value":[{"ID":11}],"@odata.nextLink":"Books(1)/Chapters?$skiptoken=2"}
    """,
    "Books(1)/Chapters?$skiptoken=2": #"{"value":[{"ID":12}]}"#,
    "Books?$expand=Chapters&$skiptoken=1": """
    {"value":[{"ID":2,"Chapters":[]},
      {"ID":3,"Chapters":[],"Chapters@odata.nextLink":"Books(3)/Chapters?$skiptoken=1"}]}
    """,
    "Books(3)/Chapters?$skiptoken=1": #"{"value":[{"ID":30}]}"#,
  ]

  @Test("a read contains all pages of the result and of the entities that it expands")
  func whole() async throws {
    struct Row: Decodable {
      let id: Int
      let chapters: [Row]?
      private enum CodingKeys: String, CodingKey { case id = "ID", chapters = "Chapters" }
    }
    try await withBooks(response: { _, path in Self.pages[path].map { .ok($0) } ?? .status(400) }) { books, _, store in
      let all = try await books.expand(\.chapters).all()
      #expect(all.map(\.id) == [1, 2, 3])
      #expect(all.map { $0.chapters?.map(\.id) } == [[10, 11, 12], [], [30]])
      var paged: [[[Int]]] = []
      for try await page in books.expand(\.chapters).pages() { paged.append(page.map { $0.chapters?.map(\.id) ?? [] }) }
      #expect(paged == [[[10, 11, 12]], [[], [30]]])
      var plain: [[[Int]]] = []
      for try await page in store.pages([Row].self, "Books?$expand=Chapters") {
        plain.append(page.map { $0.chapters?.map(\.id) ?? [] })
      }
      #expect(plain == paged)
    }
  }

  @Test("live results are whole: of the cache, if it has all pages, then of the service")
  func liveWhole() async throws {
    try await withBooks(
      useCache: true, response: { _, path in Self.pages[path].map { .ok($0) } ?? .status(400) }
    ) { books, service, store in
      func results() async throws -> [[Int]] {
        var results: [[Int]] = []
        for try await books in books.expand(\.chapters).live() {
          results.append(books.flatMap { [$0.id] + ($0.chapters ?? []).map(\.id) })
        }
        return results
      }
      #expect(try await results() == [[1, 10, 11, 12, 2, 3, 30]])
      try store.setPassive(true)
      #expect(try await results() == [[1, 10, 11, 12, 2, 3, 30]])
      try store.setPassive(false)
      service.respond { request in
        let path = request.url.absoluteString.components(separatedBy: "/service/").last ?? ""
        if path == "Books(3)/Chapters?$skiptoken=1" { return .ok(#"{"value":[{"ID":31}]}"#) }
        return Self.pages[path].map { .ok($0) } ?? .status(400)
      }
      #expect(try await results() == [[1, 10, 11, 12, 2, 3, 30], [1, 10, 11, 12, 2, 3, 31]])
    }
  }

  @Test("live results of a passive store without them are an error; those of a missing entity are nil")
  func liveMissing() async throws {
    try await withBooks(useCache: true, response: { _, _ in .status(404) }) { books, _, store in
      var results = books[1].live().makeAsyncIterator()
      #expect(try await results.next() == .some(nil))
      #expect(try await results.next() == nil)
      try store.setPassive(true)
      let error = await #expect(throws: ODataServiceError.self) { for try await _ in books.live() {} }
      guard case .notCached? = error?.category else { throw try #require(error) }
    }
  }

  @Test("a further page that is no collection, or an earlier page again, is an error, not the end")
  func wrongPages() async throws {
    for next in [
      #"{"@odata.context":"$metadata#Edm.String","value":"x"}"#, #"{"value":[],"@odata.nextLink":"Books?p"}"#,
    ] {
      try await withBooks(response: { _, path in
        path == "Books" ? .ok(#"{"value":[{"ID":1}],"@odata.nextLink":"Books?p"}"#) : .ok(next)
      }) { books, _, _ in
        let error = await #expect(throws: ODataServiceError.self) { try await books.all() }
        guard case .malformedResponse? = error?.category else { throw try #require(error) }
      }
    }
  }

  @Test("an update is sent under the ETag of the header field, and the next one under the new ETag")
  func etags() async throws {
    try await withBooks(response: { request, _ in
      if request.method == .patch { return .status(204) }
      return .ok(#"{"ID":1,"Title":"a"}"#, ["ETag": "\"1\""])
    }) { books, service, _ in
      var book = try await books[1].get()
      #expect(book.odataState.etag == "\"1\"")
      book.title = "b"
      // The response has neither content nor ETag: without another read, the next update would have no condition.
      book = try await books.update(book)
      #expect(book.odataState.etag == "\"1\"")
      #expect(service.requests.map { $0.fields[.ifMatch] } == [nil, "\"1\"", nil])
    }
  }

  @Test("a created entity without content is read at the URL that the service names, if it is the service's own")
  func created() async throws {
    try await withBooks(response: { request, path in
      guard request.method == .post else { return path == "Books(7)" ? .ok(#"{"ID":7,"Title":"t"}"#) : .status(404) }
      #expect(request.fields["Prefer"] == "return=representation")
      return .status(204, "", ["OData-EntityId": "Books(7)"])
    }) { books, _, _ in
      let created = try await books.create(.init(title: "t"))
      #expect(created.id == 7)
    }
    for url in ["http://elsewhere.test/Books(7)", "Books(8)"] {
      try await withBooks(response: { request, _ in
        request.method == .post ? .status(204, "", ["Location": url]) : .status(404)
      }) { books, service, _ in
        let error = await #expect(throws: ODataServiceError.self) { try await books.create(.init(title: "t")) }
        #expect(error?.description.contains("the entity was created") == true, "\(String(describing: error))")
        #expect(service.requests.allSatisfy { $0.url.host() != "elsewhere.test" })
      }
    }
  }

  // OData Protocol 4.01 §11.2.10: $count heeds $filter and $search alone.
  @Test("a count sends the filter and the search alone")
  func count() async throws {
    try await withBooks(response: { _, _ in .ok("3", ["Content-Type": "text/plain"]) }) { books, service, _ in
      let query = books.filter { $0.id > 1 }.search("x").expand(\.chapters).orderBy(\.id).top(2).skip(1)
      let count: Int64 = try await query.count()
      #expect(count == 3)
      #expect(sent(service) == ["GET Books/$count?$search=x&$filter=ID%20gt%201"])
    }
  }

  // OData Protocol 4.01 §11.4.6; OData V2 Operations, "Manipulating Links".
  @Test("links are changed at the references, never at the entities", arguments: [ODataVersion.v4, .v2])
  func links(version: ODataVersion) async throws {
    try await withBooks(version, response: { _, _ in .status(204) }) { books, service, _ in
      try await books[1].link(\.chapters, to: books[2])
      try await books[1].unlink(\.chapters, from: books[2])
      try await books[1].link(\.author, to: books[3])
      try await books[1].unlink(\.author)
      let root = PercentEncoding.encode(books.store.serviceRoot.absoluteString)
      let expected =
        version == .v4
        ? [
          "POST Books(1)/Chapters/$ref", "DELETE Books(1)/Chapters/$ref?$id=\(root)Books(2)",
          "PUT Books(1)/Author/$ref",
          "DELETE Books(1)/Author/$ref",
        ]
        : [
          "POST Books(1L)/$links/Chapters", "DELETE Books(1L)/$links/Chapters(2L)", "PUT Books(1L)/$links/Author",
          "DELETE Books(1L)/$links/Author",
        ]
      #expect(sent(service) == expected)
    }
  }

  @Test("parameters of a function import of V2 are encoded once, and left out if nil; its pages are read")
  func imports() async throws {
    let text = "a/b c&d'e%"
    try await withBooks(
      .v2,
      response: { _, path in
        path.hasPrefix("Find?")
          ? .ok(#"{"d":{"results":[{"ID":"1"}],"__next":"Books?p"}}"#) : .ok(#"{"d":{"results":[{"ID":"2"}]}}"#)
      }
    ) { books, service, store in
      let call = ODataCall(store, "Find")
      let result = try await call.queryFunction([Book].self, [("text", text), ("none", nil), ("number", Int64(5))])
      #expect(result?.map(\.id) == [1, 2])
      let posted = try await call.postedFunction([Book].self, [("text", text)])
      #expect(posted?.map(\.id) == [1, 2])
      let query = try #require(service.requests.first?.url.absoluteString.components(separatedBy: "?").last)
      let options = query.split(separator: "&").map {
        $0.split(separator: "=").map { String($0).removingPercentEncoding }
      }
      #expect(options == [["text", "'a/b c&d''e%'"], ["number", "5L"]])
    }
  }

  private struct Place: ODataConvertible {
    let day: ODataDate?
    var odataValue: ODataValue {
      .complex(
        ODataComplexValue(
          typeName: "S.Place",
          properties: [ODataProperty("City", .string("E\"y")), ODataProperty("Day", day.odataValue)]))
    }
  }

  // URL Conventions 4.01 §5.1.1.14, §5.3.
  @Test("parameters of a function that are no primitive values are JSON behind aliases")
  func aliases() async throws {
    try await withBooks(
      response: { _, path in
        path.contains("None") ? .status(204) : .ok(path.contains("Bytes") ? "abc" : #"{"value":[]}"#)
      }
    ) { books, service, _ in
      let place = Place(day: ODataDate("2026-01-02"))
      let numbers: [Int64]? = [.max, -1]
      let none: [String]? = nil
      _ = try await books.odataCall("S.Near").function(
        [Book].self,
        [("Place", place), ("Tags", ["a'b", "c&d"]), ("Numbers", numbers), ("None", none), ("Top", 5), ("Null", nil)])
      let bytes = try await books.odataCall("S.Bytes").mediaFunction([("Of", [0.5])])
      #expect(bytes == Array("abc".utf8))
      #expect(try await books.odataCall("S.None").mediaFunction([]) == nil)
      let urls = sent(service).map { url in url.split(separator: "&").map { String($0).removingPercentEncoding } }
      #expect(
        urls == [
          [
            "GET Books/S.Near(Place=@p1,Tags=@p2,Numbers=@p3,None=null,Top=5,Null=null)"
              + ##"?@p1={"@odata.type":"#S.Place","City":"E\"y","Day":"2026-01-02"}"##, #"@p2=["a'b","c&d"]"#,
            "@p3=[9223372036854775807,-1]",
          ],
          ["GET Books/S.Bytes(Of=@p1)?@p1=[0.5]"], ["GET Books/S.None()"],
        ])
    }
  }

  // JSON Format 4.01 §18.
  @Test("parameters of an action that are entities are objects with their types, beside the other parameters")
  func entityParameters() async throws {
    try await withBooks(
      response: { _, path in path.contains("Bytes") ? .ok("a,b", ["Content-Type": "text/csv"]) : .status(204) }
    ) { books, service, _ in
      var list = ODataPropertyList()
      list.set("Count", 5)
      list.set("New", Book.Change(title: "a"), of: "S.Book")
      list.set("More", [Book.Change(title: "b"), Book.Change(title: nil)], of: "S.Book")
      list.setIfGiven("Old", Book.Change?.none, of: "S.Book")
      try await books[1].odataCall("S.Copy").action(list)
      guard case .bytes(let body)? = service.requests.last?.body else { return #expect(Bool(false), "no content") }
      let type = ##""@odata.type":"#S.Book""##
      #expect(
        String(decoding: body, as: UTF8.self)
          == ##"{"Count":5,"New":{\##(type),"Title":"a"},"More":[{\##(type),"Title":"b"},{\##(type),"Title":null}]}"##)
      let fields = service.requests.last?.fields
      #expect(fields?[.contentType] == "application/json" && fields?["OData-Version"] == "4.0")
      #expect(sent(service).last == "POST Books(1)/S.Copy")
      // A bound function import of V3 has no namespace.
      try await books[1].odataCall("Copy").action(list)
      #expect(sent(service).last == "POST Books(1)/Copy")
      let bytes = try await books[1].odataCall("S.Bytes").mediaAction(list)
      #expect(bytes == Array("a,b".utf8) && service.requests.last?.fields[.accept] == "*/*")
      #expect(try await books[1].odataCall("S.None").mediaAction(list) == nil)
    }
  }

  @Test("the entities of a set that belongs to nothing are an error with status 404, not none")
  func owner() async throws {
    try await withBooks(response: { _, _ in .status(204) }) { books, _, _ in
      let error = await #expect(throws: ODataServiceError.self) { try await books[9].chapters.all() }
      #expect(error?.httpStatus == 404)
    }
  }

  @Test("a type that derives from another is a step of the path")
  func cast() async throws {
    try await withBooks(response: { _, _ in .ok(#"{"value":[]}"#) }) { books, service, _ in
      _ = try await books.filter { $0.id > 1 }.as(Book.self).all()
      _ = try? await books[1].as(Book.self).get()
      #expect(sent(service) == ["GET Books/S.Book?$filter=ID%20gt%201", "GET Books(1)/S.Book"])
    }
  }

  // JSON Format 4.01 §4.3: relative to the context URL, without one to the URL of the request.
  @Test(
    "relative links of pages are relative to the context, else to the request",
    arguments: [
      ("Chapters?p=2", nil, "Books(1)/Chapters?p=2"), ("?p=2", nil, "Books(1)/Chapters?p=2"),
      ("../Books(1)/Chapters?p=2", nil, "Books(1)/Chapters?p=2"), ("Next?p=2", "$metadata#Books", "Next?p=2"),
      ("Next?p=2", "../$metadata#Books", "Next?p=2"), ("?p=2", "$metadata#Books", "Books(1)/Chapters?p=2"),
      ("Next?p=2", "http://h.test#Books", "http://h.test/Next?p=2"),
      ("Next?p=2", "http://h.test/sub/$metadata#Books", "http://h.test/sub/Next?p=2"),
      ("/service/Next?p=2", nil, "/service/Next?p=2"),
    ] as [(String, String?, String)])
  func relativeLinks(link: String, context: String?, expected: String) async throws {
    try await withBooks(response: { request, path in
      guard path == "Books(1)/Chapters" else { return .ok(#"{"value":[{"ID":2}]}"#) }
      let control = context.map { "\"@odata.context\":\"\($0)\"," } ?? ""
      return .ok("{\(control)\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"\(link)\"}")
    }) { books, service, _ in
      #expect(try await books[1].chapters.all().map(\.id) == [1, 2])
      let url = try #require(service.requests.last?.url.absoluteString)
      let end = expected.hasPrefix("/") || expected.hasPrefix("http") ? expected : "/service/" + expected
      #expect(url.hasSuffix(end), "\(url)")
    }
  }

  @Test("a further page has the type of the first, whatever its URL")
  func opaquePage() async throws {
    try await withBooks(response: { _, path in
      switch path {
      case "Books?$expand=Chapters": .ok(#"{"value":[],"@odata.nextLink":"/opaque"}"#)
      case "Books(7)/Chapters?p": .ok(#"{"value":[{"ID":8}]}"#)
      default: .ok(#"{"value":[{"ID":7,"Chapters":[],"Chapters@odata.nextLink":"/service/Books(7)/Chapters?p"}]}"#)
      }
    }) { books, _, _ in
      let all = try await books.expand(\.chapters).all()
      #expect(all.map { $0.chapters?.map(\.id) } == [[8]])
    }
  }

  @Test("a type that is named by the alias of its schema is decoded under its qualified name")
  func alias() async throws {
    struct Row: Decodable {
      let type: String?
      private enum CodingKeys: String, CodingKey { case type = "@odata.type" }
    }
    try await withBooks(response: { _, _ in .ok(##"{"value":[{"@odata.type":"#Self.Book","ID":1}]}"##) }) {
      _, _, store in
      let rows = try await store.read([Row].self, "Books")
      #expect(rows?.map(\.type) == ["#S.Book"])
    }
  }

  @Test("a response with content and no ETag does not lose the ETag for the next update")
  func contentWithoutETag() async throws {
    try await withBooks(response: { request, _ in
      request.method == .patch ? .ok(#"{"ID":1,"Title":"b"}"#) : .ok(#"{"ID":1,"Title":"a"}"#, ["ETag": "\"2\""])
    }) { books, service, _ in
      var book = try await books[1].get()
      book.title = "b"
      #expect(try await books.update(book).odataState.etag == "\"2\"")
      #expect(service.requests.map(\.method) == [.get, .patch, .get])
    }
  }

  @Test("a change that was made, but cannot be read, says so")
  func changedUnread() async throws {
    let reads = Tally("reads")
    try await withBooks(response: { request, _ in
      if request.method == .patch { return .status(204) }
      defer { reads.add() }
      return reads.value == 0 ? .ok(#"{"ID":1,"Title":"a"}"#, ["ETag": "\"1\""]) : .status(503)
    }) { books, _, _ in
      var book = try await books[1].get()
      book.title = "b"
      let changed = book
      let error = await #expect(throws: ODataServiceError.self) { try await books.update(changed) }
      #expect(error?.description.contains("the entity was changed") == true, "\(String(describing: error))")
      #expect(error?.isTransient == false)
    }
  }

  @Test("a change whose entity is not read because the task was cancelled says that it was made")
  func changedCancelled() async throws {
    let reads = Tally("reads")
    try await withBooks(response: { request, _ in
      if request.method == .patch { return .status(204) }
      defer { reads.add() }
      return reads.value == 0 ? .ok(#"{"ID":1,"Title":"a"}"#, ["ETag": "\"1\""]) : .failure(.cancelled)
    }) { books, _, _ in
      var book = try await books[1].get()
      book.title = "b"
      let changed = book
      let error = await #expect(throws: ODataServiceError.self) { try await books.update(changed) }
      #expect(error?.isCancelled == true && error?.response?.httpStatus == 204)
      #expect(error?.explanation.message.hasPrefix("The change was made") == true, "\(String(describing: error))")
    }
  }

  @Test("a cached result that cannot be decoded does not hide the service's")
  func undecodableCache() async throws {
    try await withBooks(useCache: true, response: { _, _ in .ok(#"{"value":[{"Title":"old"}]}"#) }) {
      books, service, store in
      _ = try await store.execute(single: .read("Books"))
      service.respond { _ in .ok(#"{"value":[{"ID":1}]}"#) }
      var seen: [[Int]] = []
      for try await rows in books.live() { seen.append(rows.map(\.id)) }
      #expect(seen == [[1]])
      service.respond { _ in .ok(#"{"value":[{"Title":"new"}]}"#) }
      _ = try await store.execute(single: .read("Books"))
      try store.setPassive(true)
      let error = await #expect(throws: ODataServiceError.self) { for try await _ in books.live() {} }
      guard case .undecodableType? = error?.category else { throw try #require(error) }
    }
  }

  @Test("live results send one request for each page")
  func liveRequests() async throws {
    try await withBooks(
      useCache: true, response: { _, path in Self.pages[path].map { .ok($0) } ?? .status(400) }
    ) { books, service, _ in
      for try await _ in books.expand(\.chapters).live() {}
      let first = service.requests.count
      for try await _ in books.expand(\.chapters).live() {}
      #expect(first == Self.pages.count && service.requests.count == 2 * first)
    }
  }

  // OData V2 Batch Processing §2.2
  @Test("changes of a batch are change sets of their own before V4", arguments: [ODataVersion.v4, .v2])
  func batchedChanges(version: ODataVersion) async throws {
    try await withBooks(version, response: { _, _ in .status(202) }) { books, service, store in
      _ = try? await store.batch(books[1].deleting(), books[2].deleting())
      guard case .bytes(let bytes)? = service.requests.last?.body else { return #expect(Bool(false)) }
      let text = String(decoding: bytes, as: UTF8.self)
      let sets = text.components(separatedBy: "Content-Type: multipart/mixed").count - 1
      #expect(sets == (version < .v4 ? 2 : 0), "\(text)")
    }
  }

  @Test("before V4, a link is removed by the key of its entity, whatever the key contains")
  func linkKeys() async throws {
    try await withBooks(.v2, response: { _, _ in .status(204) }) { books, service, store in
      let odd = ODataEntityReference<Book>(store, ODataQuery<Book>("Books").key("a(b)c"))
      try await books[1].unlink(\.chapters, from: odd)
      #expect(sent(service) == ["DELETE Books(1L)/$links/Chapters('a(b)c')"])
      await #expect(throws: ODataServiceError.self) { try await books[1].unlink(\.chapters, from: books[2].author) }
    }
  }

  // JSON Format 4.01 §4.6.5
  @Test(
    "values on further pages, in an entity or a complex value, are an error, not left out",
    arguments: [
      #""Extra":["a"],"Extra@odata.nextLink":"Books(1)/Extra?p""#,
      #""Extra":{"Many":[{"ID":2}],"Many@odata.nextLink":"Books(1)/Extra/Many?p"}"#,
    ])
  func partialValues(members: String) async throws {
    try await withBooks(response: { _, _ in .ok("{\"ID\":1,\(members)}") }) { books, _, _ in
      let error = await #expect(throws: ODataServiceError.self) { try await books[1].get() }
      guard case .notSupported(let name)? = error?.category else { throw try #require(error) }
      #expect(name.contains("'Extra'"))
    }
  }
}
