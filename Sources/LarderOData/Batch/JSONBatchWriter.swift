import LarderCore
import LarderHTTP

/// Writes a `$batch` request in the JSON format (OData JSON Format 4.01 §19.1).
///
/// Send it as `application/json`. JSON content is written as it is, text as a string, and everything else in base64url.
package enum JSONBatchWriter {
  /// Returns the batch's bytes, and the parts with the ids that were written: the given ones, and numbers for the
  /// others.
  package static func write(
    _ parts: [BatchRequestPart]
  ) throws(BatchError) -> (body: [UInt8], parts: [BatchRequestPart]) {
    let numbered = try identified(parts)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("requests")
    writer.beginArray()
    var group = 0
    for (index, part) in numbered.enumerated() {
      var name: String?
      if case .changeSet = part {
        group += 1
        name = "group\(group)"
      }
      for (member, request) in part.requests.enumerated() {
        let place = name == nil ? "\(index + 1)" : "\(index + 1).\(member + 1)"
        try write(request, group: name, place: place, to: &writer)
      }
    }
    writer.endArray()
    writer.endObject()
    return (writer.bytes, numbered)
  }

  /// Gives every request a unique id.
  private static func identified(_ parts: [BatchRequestPart]) throws(BatchError) -> [BatchRequestPart] {
    var used: Set<String> = []
    for (index, part) in parts.enumerated() {
      for request in part.requests {
        if let id = request.id, !used.insert(id).inserted {
          throw BatchError(.invalidRequest("its id '\(id)' is already used"), part: "\(index + 1)")
        }
      }
    }
    var next = 0
    func fill(_ request: BatchRequest) -> BatchRequest {
      var request = request
      while request.id == nil {
        next += 1
        if used.insert("\(next)").inserted { request.id = "\(next)" }
      }
      return request
    }
    return parts.map { part in
      switch part {
      case .single(let request): .single(fill(request))
      case .changeSet(let requests): .changeSet(requests.map(fill))
      }
    }
  }

  private static func write(
    _ request: BatchRequest, group: String?, place: String, to writer: inout JSONWriter
  ) throws(BatchError) {
    guard !request.url.isEmpty, HTTPFieldName(request.method.rawValue).isValid else {
      throw BatchError(.invalidRequest("it has no URL or its method is not a token"), part: place)
    }
    writer.beginObject()
    writer.name("id")
    writer.string(request.id ?? "")
    if let group {
      writer.name("atomicityGroup")
      writer.string(group)
    }
    if !request.dependsOn.isEmpty {
      writer.name("dependsOn")
      writer.beginArray()
      for id in request.dependsOn { writer.string(id) }
      writer.endArray()
    }
    if let condition = request.condition {
      writer.name("if")
      writer.string(condition)
    }
    writer.name("method")
    writer.string(request.method.rawValue.lowercased())
    writer.name("url")
    writer.string(request.url)
    if !request.fields.isEmpty {
      writer.name("headers")
      writer.beginObject()
      var names: Set<String> = []
      for field in request.fields where names.insert(field.name.canonicalName).inserted {
        writer.name(field.name.canonicalName)
        writer.string(request.fields[field.name] ?? field.value)
      }
      writer.endObject()
    }
    if !request.body.isEmpty {
      writer.name("body")
      try write(body: request.body, type: request.fields[.contentType], place: place, to: &writer)
    }
    writer.endObject()
  }

  private static func write(
    body: [UInt8], type: String?, place: String, to writer: inout JSONWriter
  ) throws(BatchError) {
    let type = MediaType(type ?? "application/json")
    if type.isJSON {
      do throws(JSONError) {
        var scanner = JSONScanner(body)
        while try scanner.next() != nil {}
      } catch {
        throw BatchError(.invalidRequest("its content is not JSON: \(error)"), part: place)
      }
      // A byte order mark is allowed at the beginning of a JSON text, but not inside one.
      writer.raw(body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...])
    } else if type.mediaType.hasPrefix("text/") {
      guard let text = String(validating: body, as: UTF8.self) else {
        throw BatchError(.invalidRequest("its text is not in UTF-8"), part: place)
      }
      writer.string(text)
    } else {
      writer.string(Base64.text(body, isURLSafe: true))
    }
  }
}
