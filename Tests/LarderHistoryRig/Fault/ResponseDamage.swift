import LarderHTTP
import LarderOData

/// Responses that come back as others than the service gave them. Pure.
enum ResponseDamage {
  /// A batch response with a part missing, twice, or in another place.
  static func damaged(_ response: ModelResponse, by fault: Fault) -> ModelResponse {
    guard var parts = response.parts, !parts.isEmpty else { return response }
    let isJSON = response.fields[.contentType]?.contains("json") ?? false
    switch fault {
    case .partMissing(let part, _): parts.remove(at: part % parts.count)
    case .partTwice(let part): parts.append(parts[part % parts.count])
    case .memberMissing(let member, _): parts = parts.map { without(member, $0) }
    case .idMissing(let member):
      parts = parts.map { part in
        guard case .changeSet(var members) = part, members.count > 1 else { return part }
        members[member % members.count].id = nil
        return .changeSet(members.reversed())
      }
    case .idRepeated(let part):
      let next = (part + 1) % parts.count
      parts[next] = named(parts[next], as: parts[part % parts.count])
    case .partsSwapped:
      // The order of a JSON batch's responses is free, and so is that of a change set's; other parts keep theirs.
      if isJSON {
        parts.reverse()
      } else {
        parts = parts.map { part in
          if case .changeSet(let members) = part { .changeSet(members.reversed()) } else { part }
        }
      }
    default: break
    }
    var damaged = response
    damaged.parts = parts
    damaged.body = Array(ModelService.text(parts, isJSON: isJSON).utf8)
    return damaged
  }

  /// A change set without one of its responses; one that failed keeps another beside the error, which else would be that of
  /// the whole.
  private static func without(_ member: Int, _ part: ModelBatchPart) -> ModelBatchPart {
    guard case .changeSet(var members) = part, members.count > 1 else { return part }
    members.remove(at: member % members.count)
    return members.count == 1 && members[0].response.isError ? part : .changeSet(members)
  }

  private static func named(_ part: ModelBatchPart, as other: ModelBatchPart) -> ModelBatchPart {
    let id: String? =
      switch other {
      case .single(let id, _): id
      case .changeSet(let members): members.first?.id
      }
    switch part {
    case .single(_, let response): return .single(id: id, response)
    case .changeSet(var members):
      members[0].id = id
      return .changeSet(members)
    }
  }

  /// An empty collection in the words of another protocol.
  static func foreign(_ form: Fault.Foreign, isV2: Bool) -> ModelResponse {
    let verbose = ModelResponse(200, [.contentType: "application/json"], "{\"d\":{\"results\":[]}}")
    let plain = ModelResponse(200, [.contentType: "application/json"], "{\"value\":[]}")
    return switch form {
    case .nothing: ModelResponse(204)
    case .array: ModelResponse(200, [.contentType: "application/json"], "[]")
    case .envelope: isV2 ? plain : verbose
    case .valueTwice where isV2:
      ModelResponse(200, [.contentType: "application/json"], "{\"d\":{\"results\":[],\"results\":[]}}")
    case .feed:
      ModelResponse(
        200, [.contentType: "application/atom+xml"],
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title/><id>x</id></feed>")
    case .valueTwice: ModelResponse(200, [.contentType: "application/json"], "{\"value\":[],\"value\":[]}")
    }
  }

  static func summary(_ part: ModelBatchPart) -> String {
    switch part {
    case .single(_, let response): String(response.status)
    case .changeSet(let members): "(" + members.map { String($0.response.status) }.joined(separator: " ") + ")"
    }
  }
}
