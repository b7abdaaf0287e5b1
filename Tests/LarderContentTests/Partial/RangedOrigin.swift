import Foundation
import LarderContent
import LarderHTTP

/// An origin server of one resource that knows entity tags and ranges, as a function from request to response.
struct RangedOrigin: Sendable {
  var content: [UInt8]
  var etag: String? = "\"v1\""
  var fields: HTTPFields = ["Cache-Control": "max-age=60", "Content-Type": "text/plain"]

  init(_ text: String) { content = Array(text.utf8) }
  init(_ content: [UInt8]) { self.content = content }

  func response(_ request: HTTPRequest) -> (status: Int, fields: HTTPFields, content: [UInt8]) {
    var fields = fields
    fields[.etag] = etag
    if let text = request.fields[.ifNoneMatch], let etag, EntityTagList(text).matchesWeakly(etag) {
      return (304, fields, [])
    }
    let holds = request.fields["If-Range"].map { $0 == etag } ?? true
    guard holds, let text = request.fields["Range"], let field = RangeField(text) else { return (200, fields, content) }
    switch field.resolved(length: content.count) {
    case .ignored: return (200, fields, content)
    case .unsatisfiable:
      return (416, ["Content-Range": ContentRange.unsatisfied(length: content.count).text], [])
    case .ranges(let ranges):
      // This one knows single ranges only.
      guard let range = ranges.first, ranges.count == 1 else { return (200, fields, content) }
      fields["Content-Range"] = ContentRange.part(range, length: content.count).text
      return (206, fields, Array(content[range]))
    }
  }

  func scripted(_ request: HTTPRequest) -> ManualNetwork.Scripted {
    let response = response(request)
    return .init(response.status, response.fields, String(decoding: response.content, as: UTF8.self))
  }
}

extension EngineRig {
  /// Over an origin.
  init(_ origin: RangedOrigin) {
    self.init({ request, _ in origin.scripted(request) })
  }

  /// The ranges that were requested of the network, each with its `If-Range`.
  var requestedRanges: [String] {
    network.requests.map { request in
      let range = request.fields["Range"] ?? "all"
      return request.fields["If-Range"].map { "\(range) if \($0)" } ?? range
    }
  }

  /// Requests a range.
  func range(_ range: String, _ fields: HTTPFields = [:]) async throws -> String {
    var fields = fields
    fields["Range"] = "bytes=" + range
    return try await line(fields)
  }

  func line(_ fields: HTTPFields) async throws -> String { try await line("/a", fields) }
}
