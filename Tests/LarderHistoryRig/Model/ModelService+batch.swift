import LarderHTTP
import LarderOData

// Batches: multipart and JSON, change sets with and without rollback.
extension ModelService {
  mutating func batch(_ request: ModelRequest, _ failing: [Int: Int], member: Int?) -> ModelResponse {
    let isJSON = ModelService.isJSON(request)
    let parts: [BatchRequestPart]
    do throws(BatchError) { parts = try ModelService.read(request) } catch { return self.error(400, "\(error)") }
    let failing = Dictionary(failing.map { ($0 % max(1, parts.count), $1) }) { first, _ in first }
    var responses: [ModelBatchPart] = []
    for (place, part) in parts.enumerated() {
      let partResponse = failing[place].map { status in failed(part, status) } ?? carryOut(part, failing: member)
      responses.append(partResponse)
      if !kind.continues, partResponse.isError { break }
    }
    var response = ModelResponse(200)
    response.parts = responses
    response.fields = jsonFields
    if !isJSON { response.fields[.contentType] = "multipart/mixed; boundary=b" }
    response.body = Array(ModelService.text(responses, isJSON: isJSON).utf8)
    return response
  }

  /// The parts of a batch; none where it cannot be read.
  static func parts(_ request: ModelRequest) -> [BatchRequestPart] { (try? read(request)) ?? [] }

  private static func isJSON(_ request: ModelRequest) -> Bool {
    request.fields[.contentType]?.contains("json") ?? false
  }

  private static func read(_ request: ModelRequest) throws(BatchError) -> [BatchRequestPart] {
    isJSON(request)
      ? try JSONBatchReader.requests(request.body)
      : try MultipartBatchReader.requests(request.body, contentType: request.fields[.contentType] ?? "")
  }

  /// - Parameter failing: the request of a change set of several that is rejected, by its number.
  private mutating func carryOut(_ part: BatchRequestPart, failing: Int?) -> ModelBatchPart {
    switch part {
    case .single(let request): return .single(id: request.id, single(ModelRequest(request), [:]))
    case .changeSet(let requests):
      let before = self
      var created: [String: Name] = [:]
      var responses: [(id: String?, response: ModelResponse)] = []
      for (place, request) in requests.enumerated() {
        let count = effects.count
        let isRejected = requests.count > 1 && failing.map { $0 % requests.count == place } ?? false
        let response = isRejected ? error(400, "refused by chance") : single(ModelRequest(request), created)
        if response.isError, !kind.respondsToEach {
          if kind.rollsBack {
            self = before
          } else {
            for place in effects.indices.dropFirst(before.effects.count) { effects[place].isDenied = true }
          }
          return .single(id: request.id, response)
        }
        if let id = request.id, effects.count > count, let effect = effects.last, effect.kind == .create {
          created[id] = effect.entity
        }
        responses.append((request.id, response))
      }
      return .changeSet(responses)
    }
  }

  private func failed(_ part: BatchRequestPart, _ status: Int) -> ModelBatchPart {
    .single(id: part.requests.first?.id, error(status, "refused by chance"))
  }

  // MARK: Texts

  static func text(_ parts: [ModelBatchPart], isJSON: Bool) -> String {
    if isJSON {
      let all = parts.enumerated().flatMap { place, part -> [String] in
        switch part {
        case .single(let id, let response): [json(id, response, group: nil)]
        case .changeSet(let members): members.map { json($0.id, $0.response, group: "g\(place)") }
        }
      }
      return "{\"responses\":[\(all.joined(separator: ","))]}"
    }
    var text = ""
    for part in parts {
      text += "--b\r\n"
      switch part {
      case .single(let id, let response): text += message(id, response)
      case .changeSet(let members):
        text += "Content-Type: multipart/mixed; boundary=c\r\n\r\n"
        for member in members { text += "--c\r\n" + message(member.id, member.response) }
        text += "--c--\r\n"
      }
    }
    return text + "--b--\r\n"
  }

  private static func message(_ id: String?, _ response: ModelResponse) -> String {
    var text = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    if let id { text += "Content-ID: \(id)\r\n" }
    text += "\r\nHTTP/1.1 \(response.status) X\r\n"
    for field in response.fields { text += "\(field.name): \(field.value)\r\n" }
    return text + "Content-Length: \(response.body.count)\r\n\r\n" + String(decoding: response.body, as: UTF8.self)
      + "\r\n"
  }

  private static func json(_ id: String?, _ response: ModelResponse, group: String?) -> String {
    var parts = ["\"id\":\(JSONNode.string(id ?? "").jsonText)", "\"status\":\(response.status)"]
    if let group { parts.append("\"atomicityGroup\":\"\(group)\"") }
    let fields = response.fields.map {
      "\(JSONNode.string($0.name.canonicalName).jsonText):\(JSONNode.string($0.value).jsonText)"
    }
    parts.append("\"headers\":{\(fields.joined(separator: ","))}")
    if !response.body.isEmpty { parts.append("\"body\":" + String(decoding: response.body, as: UTF8.self)) }
    return "{\(parts.joined(separator: ","))}"
  }
}

extension ModelBatchPart {
  package var isError: Bool {
    switch self {
    case .single(_, let response): response.isError
    case .changeSet(let members): members.contains { $0.response.isError }
    }
  }
}

extension ModelRequest {
  /// A request of a batch: a relative path is percent-encoded as in a URL.
  init(_ request: BatchRequest) {
    self.init(
      request.method.rawValue, ModelRequest.decoded(request.url), fields: request.fields, body: request.body,
      id: request.id)
  }

  /// A path without percent-encoding.
  package static func decoded(_ path: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(path.utf8)[...]
    while let first = rest.popFirst() {
      if first == UInt8(ascii: "%"), rest.count >= 2,
        let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(byte)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(first)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
