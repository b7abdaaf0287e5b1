package import LarderHTTP

/// Which fields of a response are stored, and how later responses change them (RFC 9111 §3.1, §3.2).
package enum StoredFields {
  /// The fields to store for a response: all except those of the connection and the proxy, those that `Connection`
  /// lists, and those that `no-cache="…"` lists.
  ///
  /// `Vary` and `Cache-Control` are kept even if `Connection` lists them, which a valid one never does (RFC 9110
  /// §7.6.1): each use of the stored response evaluates them.
  package static func toStore(_ fields: HTTPFields, _ cacheControl: CacheControl) -> HTTPFields {
    var excludedNames = fields.namedByConnection.subtracting(evaluatedNames)
    for name in cacheControl.noCacheFields { excludedNames.insert(name.canonicalName) }
    return HTTPFields(
      fields.filter { field in
        let name = field.name.canonicalName
        return !isHopByHop(name) && !excludedNames.contains(name)
      })
  }

  private static let evaluatedNames: Set<String> = ["vary", "cache-control"]

  /// Stored fields, updated by those of a 304 or of a response to HEAD (§3.2).
  ///
  /// Each field of the response replaces all stored ones of its name. Never replaced: `Content-Length` and
  /// `Content-Encoding`, because the stored bytes stay as they are; fields that are not stored; and `Content-Range`, if
  /// the content is stored as ranges.
  ///
  /// - Parameter isPartial: true if the stored content consists of some ranges.
  package static func updated(_ stored: HTTPFields, by response: HTTPFields, isPartial: Bool = false) -> HTTPFields {
    let newFields = toStore(response, CacheControl(response)).filter { field in
      switch field.name.canonicalName {
      case "content-length", "content-encoding": false
      case "content-range": !isPartial && stored.contains("Content-Range")
      default: true
      }
    }
    let names = Set(newFields.map(\.name))
    // The first response's `Age` does not apply to the second.
    let keptFields = stored.filter { !names.contains($0.name) && $0.name.canonicalName != "age" }
    let updated = HTTPFields(keptFields + newFields)
    // Fields that `no-cache="…"` lists are omitted, whichever of the two responses contains it (§5.2.2.4).
    return toStore(updated, CacheControl(updated))
  }

  /// Whether a field belongs to one connection or one proxy (RFC 9110 §7.6.1, RFC 9111 §3.1).
  package static func isHopByHop(_ name: String) -> Bool {
    switch name {
    case "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-connection", "proxy-authenticate",
      "proxy-authentication-info", "proxy-authorization":
      true
    default: false
    }
  }
}
