package import LarderHTTP

/// Which fields of a response are stored, and how later answers change them (RFC 9111 §3.1, §3.2).
package enum StoredFields {
  /// The fields to store of a response: all but those of the connection and the proxy, those that `Connection` names,
  /// and those that `no-cache="…"` names.
  package static func toStore(_ fields: HTTPFields, _ cacheControl: CacheControl) -> HTTPFields {
    var named = fields.namedByConnection
    for name in cacheControl.noCacheFields { named.insert(name.canonicalName) }
    return HTTPFields(
      fields.filter { field in
        let name = field.name.canonicalName
        return !isOfConnection(name) && !named.contains(name)
      })
  }

  /// Stored fields, brought up to date by those of a 304 or of an answer to HEAD (§3.2).
  ///
  /// Each field that the answer has replaces all stored ones of its name. Never replaced: `Content-Length`, fields that
  /// are not stored, and what describes the content's form and is not stored with it (`Content-Encoding` that the
  /// transport has undone; `Content-Range`, where the content is kept as ranges).
  ///
  /// - Parameter isPartial: true where the stored content is some ranges.
  package static func updated(_ stored: HTTPFields, by answer: HTTPFields, isPartial: Bool = false) -> HTTPFields {
    let news = toStore(answer, CacheControl(answer)).filter { field in
      switch field.name.canonicalName {
      case "content-length": false
      case "content-encoding": stored.contains(.contentEncoding)
      case "content-range": !isPartial && stored.contains("Content-Range")
      default: true
      }
    }
    let names = Set(news.map(\.name))
    // The first answer's `Age` says nothing of the second's.
    let kept = stored.filter { !names.contains($0.name) && $0.name.canonicalName != "age" }
    let updated = HTTPFields(kept + news)
    // What `no-cache="…"` names stays out, whichever of the two said so (§5.2.2.4).
    return toStore(updated, CacheControl(updated))
  }

  /// Fields of one connection or one proxy (RFC 9110 §7.6.1, RFC 9111 §3.1).
  package static func isOfConnection(_ name: String) -> Bool {
    switch name {
    case "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-connection", "proxy-authenticate",
      "proxy-authentication-info", "proxy-authorization":
      true
    default: false
    }
  }
}
