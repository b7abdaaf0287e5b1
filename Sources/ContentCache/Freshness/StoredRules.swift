/// What the caching rules need of a stored response, parsed once.
package struct StoredRules: Sendable, Hashable {
  package init(_ metadata: CacheMetadata) {}
}
