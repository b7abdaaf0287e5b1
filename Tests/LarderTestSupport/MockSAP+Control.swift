import Foundation

/// One request as the server logged it.
public struct LoggedRequest: Sendable, Hashable {
  /// Counts from 1 since the start; a later request has a higher number.
  public let id: Int
  /// The method.
  public let method: String
  /// The path, without the query.
  public let path: String
  /// The query as it came, without `?`.
  public let query: String
  /// The status of the response.
  public let status: Int
  /// The header fields by their names in lower case; credentials, cookies and CSRF tokens are blanked by the server.
  public let fields: [String: String]
  /// The content as text.
  public let body: String
}

/// An unexpected response of the control plane.
public struct MockSAPControlError: Error, Sendable, CustomStringConvertible {
  /// What came instead.
  public let description: String
}

/// `mock-sap`'s control plane, `/_mock/*`. Calls block for about a millisecond.
extension MockSAP {
  /// A rule that makes requests fail, as `/_mock/faults` takes it.
  public struct Fault: Sendable {
    /// A regular expression on the path; `nil` is every path.
    public var match: String?
    /// A method; `nil` is every one.
    public var method: String?
    /// The status to return; `nil` leaves the response unchanged (with `delay` it is only late).
    public var status: Int?
    /// One of the server's named scenarios, see ``MockSAP/scenarios()``.
    public var scenario: String?
    /// The error's message.
    public var message: String?
    /// How many requests it applies to; `nil` is all.
    public var count: Int?
    /// Delay before the response, in milliseconds.
    public var delayMilliseconds: Int?

    /// A rule.
    public init(
      match: String? = nil, method: String? = nil, status: Int? = nil, scenario: String? = nil,
      message: String? = nil, count: Int? = nil, delayMilliseconds: Int? = nil
    ) {
      self.match = match
      self.method = method
      self.status = status
      self.scenario = scenario
      self.message = message
      self.count = count
      self.delayMilliseconds = delayMilliseconds
    }
  }

  /// Adds a rule; the first that matches a request is applied.
  public func addFault(_ fault: Fault) throws {
    var rule: [String: Any] = [:]
    rule["match"] = fault.match
    rule["method"] = fault.method
    rule["status"] = fault.status
    rule["scenario"] = fault.scenario
    rule["message"] = fault.message
    rule["count"] = fault.count
    rule["delay_ms"] = fault.delayMilliseconds
    _ = try control("POST", "faults", rule)
  }

  /// Removes all rules.
  public func clearFaults() throws { _ = try control("DELETE", "faults") }

  /// The names a rule's `scenario` and the request header `sap-mock-scenario` take.
  public func scenarios() throws -> [String] {
    let names = try control("GET", "faults")["scenarios"]
    return (names as? [String]) ?? (names as? [String: Any])?.keys.sorted() ?? []
  }

  /// The requests that the server has responded to, oldest first, without those to the control plane.
  ///
  /// `limit` counts the newest of all, the control plane's included.
  public func requests(limit: Int = 500) throws -> [LoggedRequest] {
    let rows = try control("GET", "requests?verbose=1&limit=\(limit)")["results"] as? [[String: Any]]
    guard let rows else { throw MockSAPControlError(description: "/_mock/requests has no results") }
    return rows.reversed().compactMap { row in
      guard let path = row["path"] as? String, !path.hasPrefix("/_mock/") else { return nil }
      var fields: [String: String] = [:]
      for (name, value) in row["headers"] as? [String: Any] ?? [:] { fields[name.lowercased()] = "\(value)" }
      return LoggedRequest(
        id: row["id"] as? Int ?? 0, method: row["method"] as? String ?? "", path: path,
        query: row["query"] as? String ?? "", status: row["status"] as? Int ?? 0, fields: fields,
        body: row["body"] as? String ?? "")
    }
  }

  /// Moves the server's clock forward.
  public func advanceClock(days: Int) throws { _ = try control("POST", "advance", ["days": days]) }

  /// Puts data, clock, tokens and faults back to what they were at the start.
  public func reset() throws { _ = try control("POST", "reset", [:]) }

  /// Makes every OAuth token issued so far invalid (only with `--oauth`).
  public func revokeTokens() throws { _ = try control("DELETE", "tokens") }

  private func control(_ method: String, _ path: String, _ body: [String: Any]? = nil) throws -> [String: Any] {
    let content = try body.map { try Array(JSONSerialization.data(withJSONObject: $0)) } ?? []
    let fields = content.isEmpty ? [:] : ["Content-Type": "application/json"]
    let response = try process.send("/_mock/" + path, method: method, fields: fields, body: content)
    guard (200..<300).contains(response.status), let object = try response.json() as? [String: Any] else {
      throw MockSAPControlError(
        description: "\(method) /_mock/\(path): \(response.status) \(response.text.prefix(300))")
    }
    return object
  }
}
