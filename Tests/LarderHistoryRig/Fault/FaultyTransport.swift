package import LarderHTTP
import LarderOData
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Carries the requests of one store to the model service; one of them goes wrong where a fault is armed.
package final class FaultyTransport: HTTPTransport {
  private struct State {
    var armed: (fault: Fault, after: Int, takesReads: Bool)?
    var isCrashed = false
    var struck: Fault?
    /// The changes that the fault touched.
    var marks: Set<String> = []
    /// Those of them that a damaged response says to be done, and nothing else in it speaks of.
    var reported: Set<String> = []
    var onCrash: (@Sendable () -> Void)?
    /// What happens when the service has acted and the response is being sent.
    var meanwhile: (@Sendable () -> Void)?
  }

  package let actor: String
  private let model: SharedModel
  private let state = Mutex(State())

  package init(_ model: SharedModel, actor: String) { (self.model, self.actor) = (model, actor) }

  package var identity: String { "" }

  /// Lets a fault happen to the request with this number, of reads or of changes. `crash` is called when the process shall
  /// end: what it copies is what is left of the store. `meanwhile` is called when the service has acted.
  package func arm(
    _ fault: Fault, after: Int, takesReads: Bool, meanwhile: (@Sendable () -> Void)? = nil,
    crash: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      (state.armed, state.struck, state.onCrash, state.marks) = ((fault, after, takesReads), nil, crash, [])
      state.reported = []
      state.meanwhile = meanwhile
    }
  }

  /// Takes the fault away; returns it if it has happened, with the marks of the changes that it touched, and of those
  /// that the response says to be done all the same.
  package func disarm() -> (fault: Fault, marks: Set<String>, reported: Set<String>)? {
    state.withLock { state in
      defer { (state.armed, state.struck, state.onCrash, state.meanwhile) = (nil, nil, nil, nil) }
      return state.struck.map { ($0, state.marks, state.reported) }
    }
  }

  /// Whether the process has ended by a fault; resets it.
  package func takeCrash() -> Bool {
    state.withLock { state in
      defer { state.isCrashed = false }
      return state.isCrashed
    }
  }

  package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let read = try await model(request)
    if state.withLock({ $0.isCrashed }) { throw .connectionLost(reason: "the process has ended") }
    let fault = due(for: read)
    if let fault { model.note("    fault: \(fault)") }
    return try perform(read, fault, request.url)
  }

  private func model(_ request: HTTPRequest) async throws(HTTPTransportError) -> ModelRequest {
    var body: [UInt8] = []
    switch request.body {
    case .none: break
    case .bytes(let bytes): body = bytes
    case .stream(_, let open):
      do { body = try await open().collect() } catch { throw .connectionLost(reason: "the content broke off") }
    }
    let url = request.url.absoluteString
    let path = url.hasPrefix(ModelService.root) ? String(url.dropFirst(ModelService.root.count)) : url
    return ModelRequest(request.method.rawValue, ModelRequest.decoded(path), fields: request.fields, body: body)
  }

  private func due(for request: ModelRequest) -> Fault? {
    state.withLock { state in
      guard var armed = state.armed, !request.path.hasPrefix("$metadata") else { return nil }
      guard armed.takesReads ? request.method == "GET" : request.method != "GET" else { return nil }
      if armed.fault.isForReads, !request.readsCollection { return nil }
      armed.after -= 1
      state.armed = armed
      guard armed.after < 0 else { return nil }
      (state.armed, state.struck) = (nil, armed.fault)
      state.marks = FaultyTransport.marks(request)
      return armed.fault
    }
  }

  /// The changes that a request carries.
  static func marks(_ request: ModelRequest) -> Set<String> {
    if let mark = request.mark { return [mark] }
    guard request.path.hasPrefix("$batch") else { return [] }
    var names: Set<String> = []
    for line in String(decoding: request.body, as: UTF8.self).split(whereSeparator: { "\r\n,{}".contains($0) }) {
      let text = line.replacing("\"", with: "").lowercased()
      if text.hasPrefix("mark:") { names.insert(text.dropFirst(5).filter { $0 != " " }) }
    }
    return names
  }

  private func crash() {
    let copy = state.withLock { state in
      state.isCrashed = true
      return state.onCrash
    }
    copy?()
  }

  private func perform(
    _ request: ModelRequest, _ fault: Fault?, _ url: URL
  ) throws(HTTPTransportError) -> HTTPResponse {
    var failing: [Int: Int] = [:]
    var member: Int?
    switch fault {
    case .requestLost?: throw .connectionLost(reason: "lost on its way")
    case .delayed?:
      model.delay(request, from: actor)
      throw .timeout(phase: "idle")
    case .status(let status)?:
      note(request, ModelResponse(status))
      let fields: HTTPFields = status == 401 ? [.wwwAuthenticate: "Basic realm=\"r\""] : [:]
      return HTTPResponse(status: status, fields: fields, url: url)
    case .crash(isAfter: false)?:
      crash()
      throw .connectionLost(reason: "the process has ended")
    case .foreign(let form)?:
      let response = ResponseDamage.foreign(form, isV2: model.service.kind.isV2)
      note(request, response)
      return self.response(response, url)
    case .part(let part, let status)?: failing = [part: status]
    case .partMissing(let part, let rejected?)? where part != rejected: failing = [rejected: 400]
    case .memberMissing(let missing, let rejected?)? where missing != rejected: member = rejected
    default: break
    }
    var response = model.respond(
      to: request, from: actor, failing: failing, member: member, isLost: { fault?.loses($0) ?? false })
    note(request, response)
    if fault != nil { state.withLock { $0.meanwhile }?() }
    switch fault {
    case .responseLost?: throw .connectionLost(reason: "the response was lost")
    case .crash(isAfter: true)?:
      crash()
      throw .connectionLost(reason: "the process has ended")
    case .gateway(let status)?: return HTTPResponse(status: status, url: url)
    case .page?:
      return HTTPResponse(
        status: 200, fields: [.contentType: "text/html"], url: url, body: HTTPBodyStream(Array("<html></html>".utf8)))
    case .truncated(let isSilent)? where !response.body.isEmpty: return truncated(response, isSilent, url)
    case .partMissing, .partsSwapped, .partTwice, .memberMissing, .idMissing, .idRepeated:
      if let fault { response = ResponseDamage.damaged(response, by: fault) }
      let reported = reported(by: response, request)
      state.withLock { $0.reported = reported }
    default: break
    }
    return self.response(response, url)
  }

  /// The marks of the changes of a batch that one response each, under their own id, says to be done.
  private func reported(by response: ModelResponse, _ request: ModelRequest) -> Set<String> {
    let responses = (response.parts ?? []).flatMap { part in
      switch part {
      case .single(let id, let response): [(id: id, response: response)]
      case .changeSet(let members): members
      }
    }
    guard !responses.contains(where: { $0.id == nil }) else { return [] }
    let byID = Dictionary(grouping: responses) { $0.id ?? "" }
    let requests = ModelService.parts(request).flatMap(\.requests)
    return Set(
      requests.compactMap { request in
        guard let responses = request.id.flatMap({ byID[$0] }), responses.count == 1, !responses[0].response.isError
        else { return nil }
        return request.fields["Mark"]
      })
  }

  private func response(_ response: ModelResponse, _ url: URL) -> HTTPResponse {
    HTTPResponse(status: response.status, fields: response.fields, url: url, body: HTTPBodyStream(response.body))
  }

  private func truncated(_ response: ModelResponse, _ isSilent: Bool, _ url: URL) -> HTTPResponse {
    let half = Array(response.body.prefix(response.body.count / 2))
    var body = HTTPBodyStream(half)
    if !isSilent {
      let rest = Mutex<[UInt8]?>(half)
      body = HTTPBodyStream(next: {
        if let next = rest.withLock({ $0.take() }), !next.isEmpty { return next }
        throw HTTPTransportError.connectionLost(reason: "cut short")
      })
    }
    return HTTPResponse(status: response.status, fields: response.fields, url: url, body: body)
  }

  private func note(_ request: ModelRequest, _ response: ModelResponse) {
    guard !request.path.hasPrefix("$metadata") else { return }
    var line = "    \(actor): \(request.method) \(request.path)"
    if let condition = request.fields[.ifMatch] { line += " If-Match \(condition)" }
    if let mark = request.mark { line += " [\(mark)]" }
    line += " -> \(response.status)"
    for part in response.parts ?? [] { line += " " + ResponseDamage.summary(part) }
    let marks = FaultyTransport.marks(request)
    if request.path.hasPrefix("$batch") { line += " [" + marks.sorted().joined(separator: " ") + "]" }
    model.note(line)
  }
}

extension ModelRequest {
  /// Whether it reads a collection that a whole response replaces: no entity, no singleton, no changes since a time.
  fileprivate var readsCollection: Bool {
    let (path, query) = ModelService.split(path)
    return ModelSchema.set(path) != nil && path != "Setting" && query["$deltatoken"] == nil
  }
}
