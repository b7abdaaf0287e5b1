@_spi(Stores) import LarderHTTP
import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Batches (Protocol 4.0 §11.7), multipart and JSON. A change set is carried out as a whole or not at all.
extension TestResponder {
  private typealias Part = (id: String?, group: String?, reply: HTTPTestReply)

  func batch(_ request: HTTPTestRequest, _ transport: ScriptedTransport?) async throws -> HTTPTestReply {
    let type = request.fields[.contentType] ?? ""
    let isJSON = type.contains("json")
    let parts: [BatchRequestPart]
    do throws(BatchError) {
      parts =
        isJSON
        ? try JSONBatchReader.requests(request.body)
        : try MultipartBatchReader.requests(request.body, contentType: type)
    } catch { throw ServiceFault(400, "\(error)") }
    // A connection that breaks is that of the whole batch.
    let requests = parts.flatMap(\.requests).compactMap { try? received($0) }
    let fault = transport?.takeConnectionFault(for: requests)
    if case .error(let error) = fault {
      for request in requests { transport?.record(request) }
      throw error
    }
    let preference = Preferences(request)["continue-on-error"]
    let continues = preference != nil && preference != "false"
    let groups = isJSON ? JSONBatchReader.groups(request.body) : [:]
    var replies: [[Part]] = []
    var failed: Set<String> = []
    var created: [String: String] = [:]
    for (number, part) in parts.enumerated() {
      // A request whose URL is none gets its error with the other parts.
      for request in part.requests { if let received = try? received(request) { transport?.record(received) } }
      let group = part.requests.first?.id.flatMap { groups[$0] }
      let reply = try await self.reply(
        to: part, group: group ?? "group\(number)", failed: failed, isJSON: isJSON, transport, &created)
      replies.append(reply)
      guard reply.contains(where: { $0.reply.status >= 400 }) else { continue }
      for id in part.requests.compactMap(\.id) + [group].compactMap(\.self) { failed.insert(id) }
      if !continues { break }
    }
    if fault == .responseLost { throw HTTPTransportError.connectionLost(reason: "the response was lost") }
    var reply = isJSON ? json(replies.flatMap(\.self)) : multipart(replies)
    reply.isTruncated = fault == .truncatedContent
    return reply
  }

  private func reply(
    to part: BatchRequestPart, group: String, failed: Set<String>, isJSON: Bool, _ transport: ScriptedTransport?,
    _ created: inout [String: String]
  ) async throws -> [Part] {
    var place = 0
    do {
      for (index, request) in part.requests.enumerated() {
        place = index
        if let condition = request.condition {
          throw ServiceFault.notSupported("the condition '\(condition)' in a batch")
        }
        if let id = request.dependsOn.first(where: failed.contains) {
          throw ServiceFault(424, "The request depends on '\(id)', which failed.")
        }
      }
      switch part {
      case .single(let request):
        var received = try received(request)
        if let reply = try await transport?.plannedReply(to: received) { return [(request.id, nil, reply)] }
        var rows = current
        rows.created = created
        received.encodedPath = rows.resolved(received.encodedPath)
        return [(request.id, nil, try await single(received, id: request.id, created: &created))]
      case .changeSet(let requests):
        var planned: [HTTPTestReply?] = []
        for (index, request) in requests.enumerated() {
          place = index
          let reply = try await transport?.plannedReply(to: received(request))
          if let reply, reply.status >= 400 { return failure(of: part, at: index, reply, group: group, isJSON: isJSON) }
          planned.append(reply)
        }
        return try changeSet(requests, planned, group: group, &created, place: &place)
      }
    } catch let fault as ServiceFault {
      return failure(of: part, at: place, reply(to: fault), group: group, isJSON: isJSON)
    }
  }

  /// The responses to a part if one of its requests fails.
  private func failure(
    of part: BatchRequestPart, at place: Int, _ reply: HTTPTestReply, group: String, isJSON: Bool
  ) -> [Part] {
    guard isJSON, case .changeSet(let requests) = part else { return [(part.requests[place].id, nil, reply)] }
    let others = self.reply(to: ServiceFault(424, "Another request of the group '\(group)' failed."))
    return requests.enumerated().map { index, request in (request.id, group, index == place ? reply : others) }
  }

  /// - Parameters:
  ///   - planned: the responses that the test has planned instead of the service's.
  ///   - place: the index of the request that is carried out; after an error, of the one that failed.
  private func changeSet(
    _ requests: [BatchRequest], _ planned: [HTTPTestReply?], group: String, _ created: inout [String: String],
    place: inout Int
  ) throws(ServiceFault) -> [Part] {
    let (parts, paths) = try change { [created] rows throws(ServiceFault) in
      rows.created = created
      var parts: [Part] = []
      for (index, request) in requests.enumerated() {
        place = index
        guard request.method != .get else { throw ServiceFault(400, "A change set must not contain a GET.") }
        if let reply = planned[index] {
          parts.append((request.id, group, reply))
          continue
        }
        let (reply, created) = try self.change(try self.received(request), &rows)
        if let id = request.id { rows.created[id] = created }
        parts.append((request.id, group, reply))
      }
      return (parts, rows.created)
    }
    created = paths
    return parts
  }

  /// A request of a batch, with a path relative to the root.
  private func received(_ request: BatchRequest) throws(ServiceFault) -> HTTPTestRequest {
    let path = model.relative(request.url)
    guard let url = URL(string: path.contains("://") ? path : root + path) else {
      throw ServiceFault(400, "'\(request.url)' is not a URL.")
    }
    return HTTPTestRequest(
      method: request.method, url: url, path: PercentEncoding.decode(path) ?? path, fields: request.fields,
      body: request.body, encodedPath: path)
  }

  // MARK: Responses

  private func json(_ parts: [Part]) -> HTTPTestReply {
    let responses = parts.map { part in
      var members: [JSONNode.Member] = [
        .init("id", .string(part.id ?? "")), .init("status", .number("\(part.reply.status)")),
      ]
      if let group = part.group { members.append(.init("atomicityGroup", .string(group))) }
      let fields = part.reply.fields.map { JSONNode.Member($0.name.canonicalName, .string($0.value)) }
      members.append(.init("headers", .object(fields)))
      if !part.reply.body.isEmpty {
        let isJSON = part.reply.fields[.contentType]?.contains("json") ?? false
        let text = JSONNode.string(String(decoding: part.reply.body, as: UTF8.self))
        members.append(.init("body", isJSON ? (try? JSONNode(part.reply.body)) ?? text : text))
      }
      return JSONNode.object(members)
    }
    return reply(200, .object([.init("responses", .array(responses))]))
  }

  private func multipart(_ parts: [[Part]]) -> HTTPTestReply {
    let (batch, changes) = ("larder-batch", "larder-changes")
    var body: [UInt8] = []
    for part in parts {
      body += Array("--\(batch)\r\n".utf8)
      if part.first?.group != nil {
        body += Array("Content-Type: multipart/mixed; boundary=\(changes)\r\n\r\n".utf8)
        for member in part { body += Array("--\(changes)\r\n".utf8) + message(member) }
        body += Array("--\(changes)--\r\n".utf8)
      } else {
        for member in part { body += message(member) }
      }
    }
    body += Array("--\(batch)--\r\n".utf8)
    var fields = self.fields
    fields[.contentType] = "multipart/mixed; boundary=\(batch)"
    return HTTPTestReply(fields: fields, body: body)
  }

  private func message(_ part: Part) -> [UInt8] {
    var text = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    if let id = part.id { text += "Content-ID: \(id)\r\n" }
    text += "\r\nHTTP/1.1 \(part.reply.status) Status\r\n"
    for field in part.reply.fields { text += "\(field.name): \(field.value)\r\n" }
    text += "Content-Length: \(part.reply.body.count)\r\n\r\n"
    return Array(text.utf8) + part.reply.body + Array("\r\n".utf8)
  }
}

extension JSONBatchReader {
  /// The atomicity groups of requests by their ids.
  fileprivate static func groups(_ body: [UInt8]) -> [String: String] {
    var reader = JSONBatchReader()
    var groups: [String: String] = [:]
    for case .request(let request, let group?) in (try? reader.read(body)) ?? [] {
      if let id = request.id { groups[id] = group }
    }
    return groups
  }
}
