import HTTPCore
import OData

/// Responses that come back as others than the service gave them. Pure.
enum ResponseDamage {
  /// A batch response with a part missing, twice, or in another place.
  static func damaged(_ response: ModelResponse, by fault: Fault) -> ModelResponse {
    guard var parts = response.parts, !parts.isEmpty else { return response }
    let isJSON = response.fields[.contentType]?.contains("json") ?? false
    switch fault {
    case .partMissing(let part, _): parts.remove(at: part % parts.count)
    case .partTwice(let part): parts.append(parts[part % parts.count])
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
