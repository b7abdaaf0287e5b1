import LarderOData

/// The pages of a collection, read one after another when the reader asks for them.
public struct ODataPages<Page: Decodable & Sendable>: AsyncSequence, Sendable {
  /// A page: the values of one response.
  public typealias Element = Page
  /// The type of the error that ends the sequence.
  public typealias Failure = any Error

  private let store: any ODataStore
  private let path: @Sendable () throws -> String

  init(_ store: any ODataStore, _ path: @escaping @Sendable () throws -> String) {
    (self.store, self.path) = (store, path)
  }

  /// Creates an iterator that begins with the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

  /// Reads the pages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let pages: ODataPages
    private var links = PageLinks()
    private var isEnded = false

    fileprivate init(pages: ODataPages) { self.pages = pages }

    /// Reads the next page; nil after the last.
    public mutating func next() async throws -> Page? {
      guard !isEnded else { return nil }
      isEnded = true
      let content = try await links.read(pages.store) { try pages.path() }
      isEnded = links.next == nil
      return try content.decoded(Page.self)
    }
  }
}

/// The links of the pages of one collection.
struct PageLinks {
  /// The link of the next page.
  private(set) var next: String?
  private var known: Set<String> = []

  /// Reads the next page, or the first one at a path.
  mutating func read(_ store: any ODataStore, path: () throws -> String) async throws -> DecodableContent {
    let response = try await store.execute(single: .read(next ?? path()))
    let content = try DecodableContent(response, model: store.model)
    next = content.nextLink
    if let next, !known.insert(next).inserted {
      throw ODataServiceError(
        .malformedResponse("a page is its own next page"), operation: "read", url: response.url, response: response)
    }
    return content
  }
}
