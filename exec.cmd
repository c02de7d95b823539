@rem Windows has no exec, by which `npm start` lets a shell give way to the server, nor env, which sets what only glibc reads:
@rem here what is given runs from "node" on.
@set line=%*
@call set line=%%line:*node =node %%
@%line%
