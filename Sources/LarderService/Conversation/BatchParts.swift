import LarderHTTP
import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The parts of a batch, which can be written in either format.
struct BatchParts: Sendable {
  private let root: ODataServiceRoot
  private(set) var parts: [BatchRequestPart] = []
  /// The requests of each part, needed to read their responses.
  private(set) var outgoing: [[OutgoingRequest]] = []
  private var usedIDs: Set<String> = []
  private var nextID = 0

  init(root: ODataServiceRoot) { self.root = root }

  /// Adds a request, or the requests of a change set.
  mutating func append(
    _ members: [(ODataSingleRequest, OutgoingRequest)], isChangeSet: Bool
  ) throws(ODataServiceError) {
    var requests: [BatchRequest] = []
    for (request, outgoing) in members {
      if isChangeSet, request.isRead {
        throw outgoing.error(.invalidRequest("a change set cannot contain reads; move the read out of the change set"))
      }
      requests.append(try part(request, outgoing))
    }
    if !isChangeSet, let only = requests.first {
      parts.append(.single(only))
    } else {
      parts.append(.changeSet(requests))
    }
    outgoing.append(members.map(\.1))
  }

  private mutating func part(
    _ request: ODataSingleRequest, _ outgoing: OutgoingRequest
  ) throws(ODataServiceError) -> BatchRequest {
    let body: [UInt8]
    switch outgoing.body {
    case .none: body = []
    case .bytes(let bytes): body = bytes
    case .stream:
      throw outgoing.error(
        .invalidRequest("a batch cannot contain streamed content; send the request without the batch"))
    }
    guard outgoing.isSameOrigin else {
      throw outgoing.error(.invalidRequest("a batch can contain only requests to its own service"))
    }
    let absolute = outgoing.url.absoluteString
    let path = root.relative(absolute) ?? String(absolute.dropFirst(root.origin.text.count))
    return BatchRequest(
      id: try id(request, outgoing), method: outgoing.method, url: path, fields: outgoing.fields, body: body)
  }

  /// The given id, or the next number; reads need none.
  private mutating func id(
    _ request: ODataSingleRequest, _ outgoing: OutgoingRequest
  ) throws(ODataServiceError) -> String? {
    if let given = request.contentID {
      guard usedIDs.insert(given).inserted else {
        throw outgoing.error(.invalidRequest("the batch has two requests with the Content-ID \(given)"))
      }
      return given
    }
    if request.isRead { return nil }
    repeat { nextID += 1 } while !usedIDs.insert(String(nextID)).inserted
    return String(nextID)
  }

  /// Writes the batch's content. Returns it with its media type and with the parts and their final ids.
  func written(
    isJSON: Bool, version: ODataVersion?, random: () -> UInt64
  ) throws(ODataServiceError) -> (contentType: String, body: [UInt8], parts: [BatchRequestPart]) {
    do throws(BatchError) {
      if isJSON {
        let (body, numbered) = try JSONBatchWriter.write(partsWithDependencies)
        return ("application/json", body, numbered)
      }
      let boundary = "batch_" + String(random(), radix: 16) + String(random(), radix: 16)
      let host = String(root.origin.text.dropFirst(root.origin.scheme.count + 3))
      // Services of V2 and V3 look for the id in the embedded request; some look in the part, as later versions do.
      let placement: MultipartBatchWriter.ContentIDPlacement = version.map { $0 >= .v4 } ?? true ? .part : .both
      let parts = placement == .part ? self.partsWithIDs : self.parts
      let (type, body) = try MultipartBatchWriter.write(parts, boundary: boundary, contentIDs: placement, host: host)
      return (type, body, parts)
    } catch {
      throw ODataServiceError(
        .invalidRequest("\(error)"), operation: "batch", method: .post, url: root.url.absoluteString, cause: error)
    }
  }

  /// The parts with ids for reads, too: from V4 on services return the ids, which identify the responses (Protocol 4.01
  /// §11.7.3).
  private var partsWithIDs: [BatchRequestPart] {
    var last = nextID
    return parts.map { part in
      guard case .single(var request) = part, request.id == nil else { return part }
      repeat { last += 1 } while usedIDs.contains(String(last))
      request.id = String(last)
      return .single(request)
    }
  }

  /// The parts with their dependencies: JSON batches are unordered, so a request must name those that it refers to
  /// (OData JSON Format 4.01 §19.1).
  private var partsWithDependencies: [BatchRequestPart] {
    parts.map { part in
      switch part {
      case .single(let request): .single(withDependencies(request))
      case .changeSet(let requests): .changeSet(requests.map(withDependencies))
      }
    }
  }

  private func withDependencies(_ request: BatchRequest) -> BatchRequest {
    var request = request
    let segment = request.url.prefix { $0 != "/" && $0 != "?" && $0 != "(" }
    guard segment.hasPrefix("$") else { return request }
    let id = String(segment.dropFirst())
    if usedIDs.contains(id), id != request.id { request.dependsOn = [id] }
    return request
  }
}
