import Foundation
import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Invalidation (RFC 9111 §4.4) and cache groups (RFC 9875)", .timeLimit(.minutes(5)))
struct InvalidationTests {
  static func invalidation(
    _ method: String = "POST", status: Int = 201, _ fields: HTTPFields = [:], url: String = "http://h.example/a/b?c"
  ) throws -> Invalidation {
    Invalidation(
      method: HTTPMethod(rawValue: method), url: try #require(URL(string: url)), status: status, fields: fields)
  }

  static func urls(_ fields: HTTPFields, url: String = "http://h.example/a/b?c") throws -> [String] {
    try invalidation("POST", fields, url: url).urls.map(\.absoluteString)
  }

  @Test("after a successful unsafe request, also with an unknown method")
  func methods() throws {
    for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FROB"] {
      for status in [200, 201, 204, 301, 303, 304, 399] {
        #expect(try !Self.invalidation(method, status: status).isEmpty, "\(method) \(status)")
      }
      for status in [100, 400, 404, 412, 500, 503] {
        #expect(try Self.invalidation(method, status: status).isEmpty, "\(method) \(status)")
      }
    }
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
      let fields: HTTPFields = ["Location": "/x", "Cache-Group-Invalidation": "\"g\""]
      #expect(try Self.invalidation(method, status: 200, fields).isEmpty, "\(method)")
    }
  }

  @Test("the target, Location and Content-Location, resolved, of the same origin only")
  func locations() throws {
    let target = "http://h.example/a/b?c"
    #expect(try Self.urls([:]) == [target])
    let both = try Self.urls(["Location": "x", "Content-Location": "/y?z"])
    #expect(both == [target, "http://h.example/a/x", "http://h.example/y?z"])
    #expect(try Self.urls(["Location": "HTTP://H.EXAMPLE:80/x"]) == [target, "HTTP://H.EXAMPLE:80/x"])
    #expect(try Self.urls(["Location": target]) == [target])
    for other in [
      "http://other.example/x", "https://h.example/x", "http://h.example:8080/x", "//other.example/x",
      "http://sub.h.example/x", "ftp://h.example/x", "http://[/", "",
    ] {
      let urls = try Self.urls(["Location": other, "Content-Location": other])
      #expect(urls == [target], "\(other)")
    }
  }

  @Test(
    "groups are a list of strings; anything else is ignored as a whole (RFC 9875 §2, RFC 9651 §4.2)",
    arguments: [
      ("\"a\"", ["a"]), ("\"a\", \"b\";x=1 ,\t\"c\"", ["a", "b", "c"]), ("\"a\", \"a\"", ["a"]),
      ("\"a\\\"b\\\\\"", ["a\"b\\"]), ("\"a, b\"", ["a, b"]), ("\"A\", \"a\"", ["A", "a"]), ("", []),
      ("a", []), ("\"a\",", []), ("\"a\" \"b\"", []), ("\"a", []), ("\"a\", b", []), ("(\"a\")", []), ("1", []),
      ("\"é\"", []), ("\"a\\n\"", []), (",\"a\"", []),
    ])
  func groups(value: String, names: [String]) throws {
    #expect(CacheGroups.names(of: ["Cache-Groups": value]) == names)
    #expect(try Self.invalidation("POST", ["Cache-Group-Invalidation": value]).groups == names)
  }

  @Test("several lines are one list, and both its length and its names have limits")
  func limits() {
    var fields: HTTPFields = ["Cache-Groups": "\"a\""]
    fields.append("cache-groups", "\"b\"")
    #expect(CacheGroups.names(of: fields) == ["a", "b"])
    #expect(CacheGroups.names(of: [:]) == [])
    let many = (0..<1000).map { "\"\($0)\"" }.joined(separator: ",")
    #expect(CacheGroups.names(of: ["Cache-Groups": many]).count == CacheGroups.limit)
    // §2: 32 groups of 32 characters must do.
    let thirtyTwo = (0..<32).map { "\"\(String(repeating: "x", count: 30))\($0 + 10)\"" }
    #expect(CacheGroups.names(of: ["Cache-Groups": thirtyTwo.joined(separator: ", ")]).count == 32)
    let long = "\"\(String(repeating: "x", count: 257))\", \"a\""
    #expect(CacheGroups.names(of: ["Cache-Groups": long]) == ["a"])
  }

  @Test("The responses that complete a method's effect")
  func failedIsNothing() throws {
    let fields: HTTPFields = ["Cache-Group-Invalidation": "\"g\""]
    #expect(try Self.invalidation("PUT", status: 204, fields).groups == ["g"])
    #expect(try Self.invalidation("PUT", status: 409, fields).groups == [])
  }
}
