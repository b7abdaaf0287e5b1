import Foundation
import LarderService
import Testing

@Suite("URLs of resource paths", .timeLimit(.minutes(5)))
struct ServiceRootTests {
  @Test(
    "a path continues the root; illegal characters are encoded once (RFC 3986 §2.1, §5.2)",
    arguments: [
      ("Articles('myuserid')?$top=30&$orderby=Date", "https://h/s/Articles('myuserid')?$top=30&$orderby=Date"),
      ("", "https://h/s/"),
      ("$metadata", "https://h/s/$metadata"),
      ("P?$filter=Name eq 'Jürgen'", "https://h/s/P?$filter=Name%20eq%20'J%C3%BCrgen'"),
      ("P?$filter=Name%20eq%20'J%C3%BCrgen'", "https://h/s/P?$filter=Name%20eq%20'J%C3%BCrgen'"),
      ("P?$filter=Off eq '50%'", "https://h/s/P?$filter=Off%20eq%20'50%25'"),
      ("P('a%2Fb')", "https://h/s/P('a%2Fb')"),
      ("P('C#')", "https://h/s/P('C%23')"),
      ("P?$filter=Name eq 'C#'", "https://h/s/P?$filter=Name%20eq%20'C%23'"),
      ("Days('12:30')", "https://h/s/Days('12:30')"),
      ("P(X=2026-01-15T10:00:00Z)", "https://h/s/P(X=2026-01-15T10:00:00Z)"),
      ("P?@p={\"a\":[1]}", "https://h/s/P?@p=%7B%22a%22:%5B1%5D%7D"),
      ("P?q=a+b?c", "https://h/s/P?q=a+b?c"),
      ("/other/P(1)", "https://h/other/P(1)"),
      ("https://h/s/P?$skiptoken=a b", "https://h/s/P?$skiptoken=a%20b"),
      ("//cdn.example/x", "https://cdn.example/x"), ("https://h#@evil.example/", "https://h/%23@evil.example/"),
      ("https://[::1]:8080/x", "https://[::1]:8080/x"),
      ("P\r\nX: y", "https://h/s/P%0D%0AX:%20y"),
    ])
  func paths(path: String, expected: String) throws {
    let root = try ODataServiceRoot(try #require(URL(string: "https://h/s")))
    #expect(try root.absoluteText(path) == expected)
    #expect(try root.resolve(path).absoluteString == expected, "nothing is encoded twice")
  }

  @Test("the root's query options are added to every relative path, and to no absolute URL")
  func rootQuery() throws {
    let root = try ODataServiceRoot(try #require(URL(string: "http://h:8000/s?sap-client=100")))
    #expect(root.url.absoluteString == "http://h:8000/s/")
    #expect(try root.absoluteText("P") == "http://h:8000/s/P?sap-client=100")
    #expect(try root.absoluteText("P?$top=1") == "http://h:8000/s/P?$top=1&sap-client=100")
    #expect(try root.absoluteText("http://h:8000/s/P?x=1") == "http://h:8000/s/P?x=1")
  }

  @Test(
    "same origin means scheme, host and port (RFC 6454 §5)",
    arguments: [
      ("https://erp.example/else", true), ("https://ERP.example:443/s/P", true), ("http://erp.example/s/P", false),
      ("https://erp.example:444/s/P", false), ("https://erp.example.evil/s/P", false),
      ("https://erp.example@evil.example/", false), ("https://evil.example/?https://erp.example/s/", false),
    ])
  func origins(url: String, isSame: Bool) throws {
    let root = try ODataServiceRoot(try #require(URL(string: "https://erp.example/s/")))
    #expect(root.isSameOrigin(try #require(URL(string: url))) == isSame)
  }

  @Test(
    "invalid roots and invalid URLs are rejected",
    arguments: ["ftp://h/s", "s/x", "https://user:secret@h/s", "file:///etc/passwd"])
  func invalidRoots(text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: ODataServiceError.self) { try ODataServiceRoot(url) }
    #expect(error?.debugDescription.contains("secret") == false)
  }

  @Test(
    "absolute URLs with other schemes or user names are rejected",
    arguments: [
      "mailto:a@b", "http://u:p@h/", "//u@h/", "http://a b/", "http://h\r\nX: y/", "https:///x", "https://[x/",
      "https://a%2Fb/", "http://h:99999/",
    ])
  func invalidPaths(path: String) throws {
    let root = try ODataServiceRoot(try #require(URL(string: "https://h/s")))
    #expect(throws: ODataServiceError.self) { try root.resolve(path) }
  }
}
