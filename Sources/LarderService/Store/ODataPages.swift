import LarderOData

/// The pages of a collection, read one after another when the reader asks for them.
public struct ODataPages<Page: Decodable & Sendable>: AsyncSequence, Sendable {
  /// A page: the values of one response, with all entities that are related to them by an expansion.
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
    private var next: String?
    private var rowType: String?
    private var isEnded = false

    fileprivate init(pages: ODataPages) { self.pages = pages }

    /// Reads the next page; nil after the last.
    public mutating func next() async throws -> Page? {
      guard !isEnded else { return nil }
      isEnded = true
      let response = try await pages.store.execute(single: .read(next ?? pages.path()))
      let content = try await ResultReader(pages.store).page(response, rowType: rowType)
      rowType = rowType ?? content.rowType
      guard let page = try content.decoded(Page.self) else { throw ODataServiceError.notFound(response.url) }
      next = try links.next(content.nextLink, response.url)
      isEnded = next == nil
      return page
    }
  }
}

extension ODataStore {
  /// The pages of a collection, in the size that the service or the store chooses, each decoded like the result of
  /// ``read(_:_:)``. Reading throws with status 404 if the entity that the collection belongs to does not exist.
  public func pages<Row: Decodable & Sendable>(_ type: [Row].Type, _ path: String) -> ODataPages<[Row]> {
    ODataPages(self) { path }
  }
}
