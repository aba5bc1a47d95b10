# Installs agent-knowledge.exe and log-memory.exe from a release, without Rust:
#
#   powershell -File install.ps1 [-From URL|DIR] [-To DIR]
#
# -From  where the release's files are: an https URL or a directory. Its SHA256SUMS must list the archive
# -To    where the programs go [default: %LOCALAPPDATA%\agent-knowledge\bin]
#
# It compares the archive's SHA-256 with SHA256SUMS and changes no other file. To remove them, delete the two programs.
param(
    [string]$From = '@URL@',
    [string]$To = (Join-Path $env:LOCALAPPDATA 'agent-knowledge\bin')
)
$ErrorActionPreference = 'Stop'

function Get-ReleaseFile([string]$Name, [string]$Folder) {
    $target = Join-Path $Folder $Name
    if ($From -like 'https://*') {
        Invoke-WebRequest -UseBasicParsing -Uri "$From/$Name" -OutFile $target
    } elseif ($From -like 'http://*') {
        throw "$From is not encrypted; use https"
    } else {
        Copy-Item (Join-Path $From $Name) $target
    }
    return $target
}

if ($From.StartsWith('@')) { throw 'say where the release is: -From URL or -From DIR' }
$archive = 'agent-knowledge-x86_64-pc-windows-gnu.zip'
$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    $sums = Get-Content (Get-ReleaseFile 'SHA256SUMS' $work)
    $line = $sums | Where-Object { $_ -match "^([0-9a-f]{64}) [ *]$([regex]::Escape($archive))$" } | Select-Object -First 1
    if (-not $line) { throw "this release has no $archive" }
    $file = Get-ReleaseFile $archive $work
    if ((Get-FileHash -Algorithm SHA256 $file).Hash.ToLowerInvariant() -ne $line.Substring(0, 64)) {
        throw "$archive differs from SHA256SUMS; nothing was installed"
    }
    Expand-Archive -Path $file -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    foreach ($program in 'agent-knowledge.exe', 'log-memory.exe') {
        Copy-Item -Force (Join-Path $work "agent-knowledge-x86_64-pc-windows-gnu\$program") (Join-Path $To $program)
    }
    Write-Output "Installed in $To. Next: $To\agent-knowledge.exe init"
} finally {
    Remove-Item -Recurse -Force $work
}
