# Homebrew: a formula that installs the programs of a release. scripts/package fills in what stands between @ signs.
class AgentKnowledge < Formula
  desc "Shared memory for coding agents: plain logs, recalled over MCP"
  homepage "@URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/agent-knowledge-aarch64-apple-darwin.tar.gz"
      sha256 "@MAC_ARM@"
    end
    on_intel do
      url "@URL@/agent-knowledge-x86_64-apple-darwin.tar.gz"
      sha256 "@MAC_INTEL@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/agent-knowledge-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_ARM@"
    end
    on_intel do
      url "@URL@/agent-knowledge-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_INTEL@"
    end
  end

  def install
    bin.install "agent-knowledge", "log-memory"
  end

  test do
    ENV["AGENT_KNOWLEDGE_LOGS"] = testpath/"logs"
    system bin/"log-memory", "--repo", "test", "--type", "pattern", "--lesson", "Bind port 0 in tests"
    assert_match "port 0", shell_output("AGENT_KNOWLEDGE_RETRIEVER=own #{bin}/agent-knowledge search port")
  end
end
