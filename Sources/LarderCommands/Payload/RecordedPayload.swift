internal import HTTPCore
internal import OData
internal import ODataXML

/// A payload in a file: content alone, or a whole answer with its status line and header fields.
struct RecordedPayload {
  /// The answer's fields; empty for content alone.
  var fields = HTTPFields()
  /// The content.
  var content: [UInt8]

  /// Takes a file's bytes apart: one that begins with `HTTP/` has a head, which ends with an empty line.
  init(_ bytes: [UInt8]) {
    content = bytes
    guard bytes.starts(with: "HTTP/".utf8) else { return }
    var lines: [String] = []
    var start = 0
    for place in bytes.indices where bytes[place] == 0x0A {
      var line = bytes[start..<place]
      if line.last == 0x0D { line.removeLast() }
      start = place + 1
      guard !line.isEmpty else {
        content = Array(bytes[start...])
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
          fields.append(HTTPFieldName(String(line[..<colon])), String(value))
        }
        return
      }
      lines.append(String(decoding: line, as: UTF8.self))
    }
  }

  /// Reads the content.
  ///
  /// - Parameters:
  ///   - contentType: says the format; nil judges by the fields, then by the first character.
  ///   - url: the request's URL, which tells the type of what came where the payload does not.
  func read(contentType: String?, model: EdmModel?, url: String?) throws -> ODataPayload {
    let type = contentType ?? fields[.contentType]
    let said = (fields[.odataVersion] ?? fields[.dataServiceVersion]).flatMap(Self.version)
    let expected = model.flatMap { model in url.flatMap { ResourceType.name(of: $0, in: model) } }
    switch Self.format(type, content) {
    case .json:
      return try ODataPayload(json: content, model: model, type: expected, version: said ?? model?.version)
    case .text: return try ODataPayload(countText: content)
    case .xml: return try ODataPayload(atom: content, model: model, type: expected)
    case .unknown(let type):
      throw CommandFailure(
        .storage, "the content type \(type) is none of OData's", hint: "Give --content-type application/json or so.")
    }
  }

  private enum Format {
    case json, xml, text
    case unknown(String)
  }

  private static func format(_ type: String?, _ content: [UInt8]) -> Format {
    guard let type else {
      switch content.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }) ?? 0 {
      case UInt8(ascii: "<"): return .xml
      case UInt8(ascii: "0")...UInt8(ascii: "9"): return .text
      default: return .json
      }
    }
    let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    if media == "application/json" || media.hasSuffix("+json") || media == "text/json" { return .json }
    if media == "application/xml" || media.hasSuffix("+xml") || media == "text/xml" { return .xml }
    return media == "text/plain" ? .text : .unknown(media)
  }

  private static func version(_ header: String) -> ODataVersion? {
    switch header.prefix(while: { $0 != ";" && $0 != " " }) {
    case "1.0", "2.0": .v2
    case "3.0": .v3
    case "4.0": .v4
    case "4.01": .v401
    default: nil
    }
  }
}

/// What a URL leads to, by the model.
enum ResourceType {
  /// The qualified type of the entity or entities at a URL; nil where the path cannot be followed.
  static func name(of url: String, in model: EdmModel) -> String? {
    var type: String?
    for segment in url.prefix(while: { $0 != "?" && $0 != "#" }).split(separator: "/") {
      let name = String(segment.prefix { $0 != "(" && $0 != "%" })
      if let current = type {
        if let property = model.structure(current)?.navigationProperty(name) {
          type = property.type.name
        } else if model.structure(name) != nil {
          type = model.resolve(name)
        } else if !name.hasPrefix("$"), !name.isEmpty {
          return nil
        }
      } else {
        type = model.entityType(of: name)?.qualifiedName
      }
    }
    return type
  }
}
