@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Evaluates queries of the service's rows: in an offline store, which downloads the rows when they have changed.
final class TestQueries: Sendable {
  private let source: RowSource
  private let store: OfflineODataProvider
  private let calls = SerialCalls()
  /// The version of the rows that the store has; nil before it is open.
  private let version = Locked<Int?>(nil)
  private let places: [RowCollection]
  private let folder: LarderTestFolder

  init(root: URL, metadata: [UInt8], clock: LarderTestClock, rows: TestRows) throws {
    folder = try LarderTestFolder()
    source = RowSource(root: root.absoluteString, metadata: metadata)
    var environment = LarderEnvironment.system
    environment.now = clock.environment.now
    var parameters = OfflineODataParameters(path: folder.path)
    parameters.conversation.retry = .never
    parameters.conversation.environment = environment
    store = try OfflineODataProvider(serviceRoot: root, transport: source, parameters: parameters)
    places = rows.model.places
  }

  /// Closes the store in a task of its own, because a deinitializer cannot wait: a released store has its files open
  /// until it is closed.
  deinit {
    LarderEnvironment.system.task { [store, folder] in
      try? await store.close()
      withExtendedLifetime(folder) {}
    }
  }

  /// Reads a path, relative to the root and percent-encoded.
  func read(_ path: String, accept: String?, _ rows: TestRows) async throws(ServiceFault) -> HTTPTestReply {
    let result = Locked<Result<HTTPTestReply, ServiceFault>?>(nil)
    await calls.run {
      let reply: Result<HTTPTestReply, ServiceFault>
      do throws(ServiceFault) { reply = .success(try await self.result(path, accept: accept, rows)) } catch {
        reply = .failure(error)
      }
      result.withLock { $0 = reply }
    }
    guard let reply = result.withLock({ $0 }) else { throw ServiceFault(500, "The query did not run.") }
    return try reply.get()
  }

  private func result(_ path: String, accept: String?, _ rows: TestRows) async throws(ServiceFault) -> HTTPTestReply {
    do {
      try await fill(rows)
      var request = ODataSingleRequest.read(path)
      if let accept { request.fields[.accept] = accept }
      guard let response = try await store.execute(.single(request)).single else {
        throw ServiceFault(500, "The query has no response.")
      }
      var body = response.payloadBytes
      if accept?.contains("metadata=full") ?? false, let node = try? JSONNode(body) {
        body = node.withoutStoreAnnotations.bytes
      }
      return HTTPTestReply(status: response.httpStatus ?? 200, fields: response.fields, body: body)
    } catch let fault as ServiceFault { throw fault } catch let error as OfflineODataError {
      switch error {
      case .notFound: throw ServiceFault(404, error.errorMessage)
      case .invalidInput: throw ServiceFault(400, error.errorMessage)
      case .notSupported, .preconditionFailed: throw .notSupported("this query (\(error.errorMessage))")
      case .communicationError, .serverSideError, .clientInternalError: throw ServiceFault(500, error.errorMessage)
      }
    } catch { throw ServiceFault(500, "\(error)") }
  }

  private func fill(_ rows: TestRows) async throws {
    let former = version.withLock { $0 }
    guard former != rows.version else { return }
    source.set(rows)
    if former == nil {
      for place in places {
        try await store.add(OfflineODataDefiningQuery(place.path, rows.definingQuery(place), tracksChanges: false))
      }
      try await store.open()
    } else {
      _ = try await store.download(whole: true)
    }
    version.withLock { $0 = rows.version }
  }
}

/// Responds to the downloads of the queries' store: the metadata, and all rows of a set.
private final class RowSource: HTTPTransport {
  private let root: String
  private let metadata: [UInt8]
  private let rows = Locked<TestRows?>(nil)

  init(root: String, metadata: [UInt8]) {
    self.root = root
    self.metadata = metadata
  }

  func set(_ rows: TestRows) { _ = self.rows.withLock { exchange(&$0, with: rows) } }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let text = request.url.absoluteString
    let path = text.hasPrefix(root) ? String(text.dropFirst(root.count).prefix { $0 != "?" }) : text
    guard let rows = rows.withLock({ $0 }) else { throw .other("no rows") }
    let isJSON = metadata.first { $0 > 0x20 } == UInt8(ascii: "{")
    if path == "$metadata" {
      return response(request, isJSON ? "application/json" : "application/xml", metadata)
    }
    guard let place = rows.model.places.first(where: { $0.url == path }) else {
      return HTTPResponse(status: 404, url: request.url)
    }
    let entities = rows.rows(in: place.path).map { rows.payload($0, .all) }
    let context = JSONNode.Member("@odata.context", .string("\(root)$metadata#\(place.path)"))
    if place.isCollection {
      let node = JSONNode.object([context, .init("value", .array(entities))])
      return response(request, "application/json", node.bytes)
    }
    guard let entity = entities.first else { return HTTPResponse(status: 204, url: request.url) }
    return response(request, "application/json", JSONNode.object([context] + (entity.members ?? [])).bytes)
  }

  private func response(_ request: HTTPRequest, _ type: String, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      status: 200, fields: [.contentType: type, .odataVersion: "4.0"], url: request.url, body: HTTPBodyStream(body))
  }
}

extension JSONNode {
  /// The node without the annotations that an offline store adds to entities.
  fileprivate var withoutStoreAnnotations: JSONNode {
    if let items { return .array(items.map(\.withoutStoreAnnotations)) }
    guard let members else { return self }
    return .object(
      members.filter { !$0.name.hasPrefix("@sap.") }.map { Member($0.name, $0.value.withoutStoreAnnotations) })
  }
}
