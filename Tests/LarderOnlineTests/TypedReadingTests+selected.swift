import Foundation
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

// Services that return only some of the properties unless they are selected, and other changes.
extension TypedReadingTests {
  /// Responds with the title only if it is selected.
  @Sendable private static func defaults(_ request: HTTPRequest, _ path: String) -> StubService.Response {
    let title = path.contains("$select=ID,Title") ? ",\"Title\":\"t\"" : ""
    let chapters = path.contains("$expand=Chapters($select=ID,Title)") ? ",\"Chapters\":[{\"ID\":2\(title)}]" : ""
    let book = "{\"ID\":1\(title)\(chapters)}"
    switch request.method {
    case .get:
      let isOne = path.hasPrefix("Books(") && !path.hasPrefix("Books(1)/Chapters") || path.contains("/Author")
      return .ok(isOne ? book : "{\"value\":[\(book)]}", ["ETag": "\"1\""])
    default: return .ok("{\"ID\":1}")
    }
  }

  // OData Protocol 4.01 §11.2.5.1: without `$select`, a service chooses the properties.
  @Test("reads of a service that returns some properties by default select those that the type declares")
  func declaredProperties() async throws {
    try await withBooks(response: Self.defaults) { plain, service, store in
      let books = ODataEntitySet<Book>(store, ODataQuery("Books"), selectsDeclared: true)
      #expect(try await plain.all().map(\.title) == [nil])
      #expect(sent(service) == ["GET Books"])
      #expect(try await books.all().map(\.title) == ["t"])
      #expect(try await books.first()?.title == "t")
      #expect(try await books[1].get().title == "t")
      #expect(try await books[1].author.get().title == "t")
      #expect(try await books[1].chapters.all().map(\.title) == ["t"])
      #expect(try await books.as(Book.self).all().first?.title == "t")
      #expect(try await books.reading().send().first?.title == "t")
      #expect(try await books[1].reading().send().title == "t")
      for try await page in books.pages() { #expect(page.map(\.title) == ["t"]) }
      for try await rows in books.live() { #expect(rows.map(\.title) == ["t"]) }
      for try await book in books[1].live() { #expect(book?.title == "t") }
      let expanded = try await books.expand(\.chapters).all()
      #expect(expanded.first?.title == "t" && expanded.first?.chapters?.first?.title == "t")
      #expect(try await books[1].expand(\.chapters).get().chapters?.first?.title == "t")
    }
  }

  @Test("what a read selects itself stays as it is; counts, changes and links select nothing")
  func selectedProperties() async throws {
    struct Row: Decodable {
      let id: Int
      private enum CodingKeys: String, CodingKey { case id = "ID" }
    }
    try await withBooks(
      response: { request, path in
        path.contains("$count") ? .ok("1", ["Content-Type": "text/plain"]) : Self.defaults(request, path)
      }
    ) { _, service, store in
      let books = ODataEntitySet<Book>(store, ODataQuery("Books"), selectsDeclared: true)
      _ = try await books.all(as: Row.self) { $0.id }
      _ = try await books.expand { $0.chapters.select { $0.id } }.all(as: Row.self) { $0.id }
      _ = try await books.expand { $0.chapters.references }.all(as: Row.self) { $0.id }
      _ = try await books.count()
      try await books[1].update(.init(title: "a"))
      try await books[1].link(\.author, to: books[2])
      try await books[1].delete()
      #expect(
        sent(service) == [
          "GET Books?$select=ID", "GET Books?$expand=Chapters($select=ID)&$select=ID",
          "GET Books?$expand=Chapters/$ref&$select=ID", "GET Books/$count", "PATCH Books(1)",
          "PUT Books(1)/Author/$ref",
          "DELETE Books(1)",
        ])
    }
  }

  @Test("created and changed entities are read with all declared properties")
  func declaredAfterChanges() async throws {
    try await withBooks(response: Self.defaults) { _, service, store in
      let books = ODataEntitySet<Book>(store, ODataQuery("Books"), selectsDeclared: true)
      #expect(try await books.create(.init(title: "t")).title == "t")
      #expect(sent(service) == ["POST Books", "GET Books(1)?$select=ID,Title"])
      var book = try await books[1].get()
      book.title = "u"
      // The response has no ETag, and not all properties.
      #expect(try await books.update(book).title == "t")
      #expect(sent(service).suffix(2) == ["PATCH Books(1)", "GET Books(1)?$select=ID,Title"])
    }
  }

  // OData Protocol 4.01 §8.3.3, §8.3.4
  @Test(
    "an entity whose creation returns no content is read with all declared properties",
    arguments: ["Books(1)", "Books(1)?client=1"])
  func declaredAfterName(url: String) async throws {
    let response: @Sendable (HTTPRequest, String) -> StubService.Response = { request, path in
      request.method == .post ? .status(204, "", ["OData-EntityId": url]) : Self.defaults(request, path)
    }
    try await withBooks(response: response) { _, service, store in
      let books = ODataEntitySet<Book>(store, ODataQuery("Books"), selectsDeclared: true)
      let created = try await books.create(.init(title: "t"))
      #expect(created.title == "t")
      #expect(sent(service) == ["POST Books", "GET \(url)\(url.contains("?") ? "&" : "?")$select=ID,Title"])
    }
  }

  @Test("an entity that is the target of a navigation property is changed there, under its ETag")
  func trackedReference() async throws {
    try await withBooks(response: Self.defaults) { books, service, _ in
      var author = try await books[1].author.get()
      author.title = "n"
      try await books[1].author.update(author)
      let patch = try #require(service.requests.first { $0.method == .patch })
      #expect(patch.url.absoluteString.hasSuffix("/Books(1)/Author") && patch.fields[.ifMatch] == "\"1\"")
      let count = service.requests.count
      try await books[1].author.update(try await books[1].author.get())
      #expect(service.requests.count == count + 1)
    }
  }

  @Test("given properties of an entity are changed under the ETag of what was read")
  func versionedUpdate() async throws {
    try await withBooks(response: Self.defaults) { books, service, _ in
      let book = try await books[1].get()
      try await books.update(book, .init(title: "n"))
      let patch = try #require(service.requests.last)
      #expect(patch.method == .patch && patch.url.absoluteString.hasSuffix("/Books(1)"))
      #expect(patch.fields[.ifMatch] == "\"1\"")
    }
  }

  @Test("changes of references, links and creations of derived types are requests of change sets")
  func changeRequests() async throws {
    try await withBooks(response: { _, _ in .status(202) }) { books, service, store in
      _ = try? await store.changeSet(
        books[1].updating(.init(title: "a"), ifMatch: "\"7\""), books[1].linking(\.author, to: books[2]),
        books[1].unlinking(\.author), books[1].linking(\.chapters, to: books[3]),
        books[1].unlinking(\.chapters, from: books[3]), books.creating(.init(title: "b"), of: Book.self))
      guard case .bytes(let bytes)? = service.requests.last?.body else { return #expect(Bool(false), "no content") }
      let text = String(decoding: bytes, as: UTF8.self)
      var lines = text.components(separatedBy: "\r\n").filter { $0.hasSuffix(" HTTP/1.1") }
      lines = lines.map { String($0.dropLast(" HTTP/1.1".count).prefix { $0 != "?" }) }
      #expect(
        lines == [
          "PATCH Books(1)", "PUT Books(1)/Author/$ref", "DELETE Books(1)/Author/$ref", "POST Books(1)/Chapters/$ref",
          "DELETE Books(1)/Chapters/$ref", "POST Books",
        ], "\(text)")
      #expect(text.contains("If-Match: \"7\"") && text.contains("#S.Book"))
    }
  }

  @Test("reads of all kinds have types with fewer properties")
  func narrower() async throws {
    struct Row: Decodable {
      let title: String?
      private enum CodingKeys: String, CodingKey { case title = "Title" }
    }
    try await withBooks(response: { _, path in
      let row = path.contains("$select=Title") ? #"{"Title":"t"}"# : "{}"
      return .ok(path.hasPrefix("Books(") ? row : "{\"value\":[\(row)]}")
    }) { books, _, store in
      #expect(try await books.first(as: Row.self) { $0.title }?.title == "t")
      #expect(try await books[1].get(as: Row.self) { $0.title }.title == "t")
      for try await page in books.pages(as: Row.self, selecting: { $0.title }) { #expect(page.first?.title == "t") }
      for try await rows in books.live(as: Row.self, selecting: { $0.title }) { #expect(rows.first?.title == "t") }
      for try await row in books[1].live(as: Row.self, selecting: { $0.title }) { #expect(row?.title == "t") }
      #expect(try await books.reading(as: Row.self) { $0.title }.send().first?.title == "t")
      #expect(try await books[1].reading(as: Row.self) { $0.title }.send().title == "t")
    }
  }
}
