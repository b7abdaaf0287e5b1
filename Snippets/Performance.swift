//! What makes the stores fast, and how to see what they do.

import Foundation
import Larder

struct Order: Decodable, Sendable {
  var id: Int
  var note: String?

  enum CodingKeys: String, CodingKey {
    case id = "ID"
    case note = "Note"
  }
}

struct Photo: Codable, Sendable {
  var name: String
}

func parameters(folder: String) -> OfflineODataParameters {
  var parameters = OfflineODataParameters(path: folder)
  // For $filter=Status eq … and $orderby=Date of the same set.
  parameters.indexes = [OfflineODataIndex("Orders", ["Status", "Date"])]
  parameters.pageSize = 5000
  parameters.parallelQueries = 4
  return parameters
}

/// The SQL of a read, and how SQLite runs it. `SCAN` of a large table needs an index.
func explain(_ provider: OfflineODataProvider) async throws {
  let explanation = try await provider.explain("Orders?$filter=Status eq 'Open'&$orderby=Date&$top=50")
  for statement in explanation.statements {
    print(statement.sql)
    for step in statement.plan { print("  \(step)") }
  }
}

/// Reads what a screen shows: 50 rows of 3 properties.
func firstPage(_ provider: OfflineODataProvider) async throws -> [Order] {
  let path = "Orders?$filter=Status eq 'Open'&$orderby=Date&$top=50&$select=ID,Note,Date"
  return try await provider.read([Order].self, path) ?? []
}

/// Writes a result of any size to a file: one piece is in memory at a time.
func export(_ provider: OfflineODataProvider, to file: FileHandle) async throws {
  for try await piece in try await provider.streamJSON("Orders?$expand=Items") {
    try file.write(contentsOf: Data(piece))
  }
}

/// One transaction waits for the disk once.
func save(_ photos: [Photo], in store: ObjectStore) async throws {
  try await store.transaction { changes in
    for photo in photos { try changes.put(photo, forKey: "photo/\(photo.name)") }
  }
}

/// Decodes many values outside of the main actor.
@concurrent
func names(in store: ObjectStore) async throws -> [String] {
  var names: [String] = []
  var cursor: ObjectCursor?
  repeat {
    let page = try await store.page(Photo.self, .keys(prefix: "photo/"), limit: 500, after: cursor)
    names += page.items.map(\.value.name)
    cursor = page.next
  } while cursor != nil
  return names
}

func openObjects(folder: String) async throws -> ObjectStore {
  var options = ObjectStoreOptions()
  options.memory = .init(countLimit: 2000, byteLimit: 8 << 20)
  options.disk = .init(byteLimit: 200 << 20, eviction: .leastRecentlyUsed)
  options.warmUpCount = 200
  return try await ObjectStore(path: folder + "/photos.store", options: options)
}

func openImages(folder: String) throws -> ContentManager {
  let memory = MemoryCache(byteLimit: 32 << 20)
  let disk = try FileCache(path: folder, byteLimit: 256 << 20)
  return ContentManager(cache: TieredCache(memory: memory, disk: disk), transport: try PlatformTransport())
}

/// Content that is too large for memory.
func size(of url: URL, _ manager: ContentManager) async throws -> Int {
  var size = 0
  let response = try await manager.stream(ContentQuery<Data>(url))
  for try await piece in response.response.body { size += piece.count }
  return size
}

func upload(_ provider: OfflineODataProvider) async throws {
  var options = OfflineODataUploadOptions()
  options.changesPerBatch = 250
  let report = try await provider.upload(options)
  print("\(report.sent) changes in \(report.requests) requests")
}
